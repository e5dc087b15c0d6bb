"""One entity, one writer: the server enforces it, not good manners."""

import asyncio
from pathlib import Path

import nats
import pytest

from schemas import OWNER, Draft
from schemas.events.run import RunPauseRequested
from schemas.events.score import ScoreComputed
from services.kit import streams
from services.kit.errors import PermissionDenied
from tests.support.kernel import kernel, voice

SERVICES = ("sandbox", "grader", "scheduler")


def test_a_forged_event_is_refused_by_the_server(tmp_path: Path) -> None:
    """The sandbox may not say what the grader alone can know."""
    forged = ScoreComputed.model_validate(
        {
            "attempt": "e001x1-a0001",
            "agent": "a0001",
            "genome": "0" * 64,
            "outcome": "success",
            "score": "1",
            "tie_break": "0",
            "criteria": [],
            "formula_version": "1",
        }  # fmt: skip
    )
    with kernel(tmp_path, *(voice(name) for name in SERVICES)) as running:
        with pytest.raises(PermissionDenied):
            running.run(running.say("sandbox", "r1", Draft("e001x1-a0001", forged)))
        running.run(running.say("scheduler", "r1", Draft("main", RunPauseRequested(mode="epoch"))))


def test_a_service_cannot_read_another_ones_inbox(tmp_path: Path) -> None:
    """A subscription to a foreign reply prefix is a permissions violation."""
    with kernel(tmp_path, *(voice(name) for name in SERVICES)) as running:
        platform = running.context("sandbox").platform

        async def spy() -> list[str]:
            seen: list[str] = []

            async def on_error(error: Exception) -> None:
                seen.append(str(error).lower())

            client = await nats.connect(
                platform.nats_url, nkeys_seed_str=platform.nkeys["sandbox"], error_cb=on_error
            )
            await client.subscribe("_INBOX.grader.>")
            await client.flush()
            await asyncio.sleep(0.2)
            await client.close()
            return seen

        assert any("permissions violation" in text for text in running.run(spy()))


def test_every_entity_is_written_by_its_owner_alone() -> None:
    """The permission file follows from OWNER, entity by entity."""
    for entity, owner in OWNER.items():
        pattern = f"kadath.evt.*.{entity}.>"
        for user in streams.all_users():
            publish = streams.permissions(user)["publish"]
            assert isinstance(publish, dict)
            assert (pattern in publish["allow"]) == (user == owner)


def test_only_the_reaper_may_purge() -> None:
    """History is append-only for everybody who works with it."""
    for user in streams.all_users():
        allow = streams.permissions(user)["publish"]["allow"]  # type: ignore[index]
        purges = any(_covers(pattern, "$JS.API.STREAM.PURGE.KADATH_EVENTS") for pattern in allow)
        assert purges == (user == "reaper"), user


def _covers(pattern: str, subject: str) -> bool:
    """NATS wildcards: `*` is one token, `>` the rest."""
    wanted, given = pattern.split("."), subject.split(".")
    if wanted[-1] == ">":
        wanted, given = wanted[:-1], given[: len(wanted) - 1]
    same = all(w in ("*", g) for w, g in zip(wanted, given, strict=False))
    return same and len(wanted) == len(given)
