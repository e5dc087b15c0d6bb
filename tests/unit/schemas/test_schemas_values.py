"""Ids, subjects, canonical JSON, and the identity of drafts."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from schemas import BlobRef, Draft, SecretRef, canonical, digest, ids, ref_of, subjects
from schemas.deciding import place
from schemas.events.run import RunPaused, RunResumed
from schemas.subjects import EntityKey
from tests.support.given import RUN, happened


def test_equal_values_have_equal_bytes():
    """Sorted keys, no spaces, ASCII only; a lone surrogate stays an escape."""
    assert canonical({"b": [1, "\ud800"], "a": "\xe4"}) == b'{"a":"\\u00e4","b":[1,"\\ud800"]}'
    ref = ref_of(b"x", "text/plain")
    assert (digest(b"x"), 1, "text/plain") == (ref.sha256, ref.size, ref.media)
    assert canonical(ref) == canonical(ref.model_dump(mode="json"))


def test_ids_follow_from_what_they_name():
    """Every retry and every replica makes the same one."""
    at = datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert ids.run_id(at, b"\x0a\x1b\x2c\xff") == "r20261231-235959-0a1b2c"
    assert ids.RUN.match(ids.run_id(at, b"abc"))
    assert (
        ids.agent_id(7),
        ids.agent_number("a0007"),
        ids.agent_id(12345),
        ids.agent_number("a12345"),
    ) == ("a0007", 7, "a12345", 12345)
    assert (
        ids.epoch_id(3),
        ids.attempt_id(3, 2, "a0012"),
        ids.attempt_id(3, 2, "a0012", "reflect"),
    ) == ("e003", "e003x2-a0012", "e003x2-a0012-reflect")
    assert ids.event_id(RUN, "run", "main", 0) == ids.event_id(RUN, "run", "main", 0)
    assert ids.event_id(RUN, "run", "main", 0) != ids.event_id(RUN, "run", "main", 1)


def test_a_seed_is_a_function_of_recorded_facts():
    """Below 2**63, so that every database holds it."""
    assert ids.seed_of(7, "epoch", 1) == ids.seed_of("7", "epoch", "1") < 2**63
    assert ids.seed_of(7, "epoch", 1) != ids.seed_of(7, "epoch", 2)


def test_subjects_name_run_entity_id_and_event():
    """The only module that spells them."""
    assert subjects.event("R", "e1", "attempt.finished") == "kadath.evt.R.attempt.e1.finished"
    assert subjects.entity(EntityKey("R", "attempt", "e1")) == "kadath.evt.R.attempt.e1.>"
    assert subjects.of_run("R") == "kadath.evt.R.>"
    assert subjects.of_kind("attempt.finished") == "kadath.evt.*.attempt.*.finished"
    assert [
        make("s", "c") for make in (subjects.command, subjects.rpc, subjects.parked, subjects.live)
    ] == ["kadath.cmd.s.c", "kadath.rpc.s.c", "kadath.parked.s.c", "kadath.live.s.c"]
    assert subjects.inbox("cli") == "_INBOX.cli"


def test_a_draft_is_placed_behind_what_its_entity_has():
    """Its id follows from its position, so a repeat is the same event."""
    drafts = [Draft("main", RunResumed()), Draft("main", RunResumed()), Draft("b", RunResumed())]
    counts = {("run", "main"): 3}
    placed = place(RUN, lambda *key: counts.get(key, 0), drafts)
    assert [
        ids.event_id(RUN, "run", "main", 3),
        ids.event_id(RUN, "run", "main", 4),
        ids.event_id(RUN, "run", "b", 0),
    ] == [one.id for one in placed]
    assert [one.entity for one in placed] == ["run"] * 3


def test_a_recorded_event_knows_its_run_and_its_entity():
    """Shortcuts of folds."""
    recorded = happened(RUN, RunPaused(cause="operator", phase="x"), "main", 5)
    assert (
        recorded.run,
        recorded.entity_id,
        recorded.data.type,
        recorded.seq,
    ) == (RUN, "main", "run.paused", 5)


@pytest.mark.parametrize("name", ["lower", "1X", "", "A" * 65, "A-B"])
def test_a_secret_is_named_like_a_variable(name):
    """Its value is nowhere."""
    with pytest.raises(ValidationError):
        SecretRef(name=name)


def test_a_reference_is_a_whole_hash():
    """64 hex digits, lower case."""
    for bad in ("0" * 63, "G" * 64, "A" * 64):
        with pytest.raises(ValidationError):
            BlobRef(sha256=bad, size=0)
