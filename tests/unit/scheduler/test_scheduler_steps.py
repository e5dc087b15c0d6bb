"""The process manager: given everything that is true, what is due?"""

import json
from datetime import timedelta
from decimal import Decimal

import pytest

from schemas import canonical
from schemas.events.agent import AgentArchived, AgentBorn, AgentGenomeActivated
from schemas.events.attempt import AttemptHeld
from schemas.events.benchmark import (
    BenchmarkApproved,
    BenchmarkDeclined,
    BenchmarkDrafted,
    BenchmarkDraftFailed,
)
from schemas.events.budget import BudgetExhausted
from schemas.events.epoch import EpochClosed
from schemas.events.evidence import EvidenceUnavailable
from schemas.events.genesis import GenesisBatchFailed, GenesisCompleted
from schemas.events.grading import GradingInterrupted
from schemas.events.preflight import PreflightCheckFailed, PreflightCheckPassed
from schemas.events.run import (
    RunCancelRequested,
    RunFailed,
    RunLocked,
    RunPauseRequested,
    RunResumed,
)
from schemas.events.selection import SelectionAbandoned, SelectionClosed
from schemas.values.tree import Tree
from services.scheduler.core import locks
from services.scheduler.core.next_step import CHECKS, finalize_seconds, next_step, phase, stall_due
from services.scheduler.core.view import View
from tests.support.given import (
    START,
    Past,
    agents,
    benchmark,
    board,
    facts,
    finished,
    frozen,
    kinds,
    published,
    queued,
    requested,
    sha,
    started,
)

NAMES = agents(4)
EMPTY = Tree(files=())


def step(past: Past[View], seconds: float = 1):
    return next_step(past.view, "main", past.later(seconds))


def advance(past: Past[View]) -> Past[View]:
    return past.then(step(past))


def asked(**changes) -> Past[View]:
    return Past(View).given(requested(**changes))


def drafted(**changes) -> Past[View]:
    past = asked(**changes)
    ref = past.keep(canonical(benchmark()))
    return past.given(BenchmarkDrafted(draft_no=1, benchmark=ref, metric="x", criteria=1))


def approved(**changes) -> Past[View]:
    past = drafted(**changes)
    event = BenchmarkApproved(draft_no=1, benchmark_sha=sha("b"), approved_by="operator")
    return past.given(event)


def checked(**changes) -> Past[View]:
    past = advance(approved(**changes))
    resolved = {"lineage": {"seed_sha": sha("seed")}, "sandbox": {"layer_sha": sha("layer")}}
    for service, check in CHECKS:
        found = PreflightCheckPassed(check=check, resolved=resolved.get(service, {}))
        past.given(found, of=service)
    return past


def born(**changes) -> Past[View]:
    past = advance(checked(**changes))
    for agent in NAMES:
        past.given(AgentBorn(agent=agent, genome=sha(agent), birth_epoch=1), of=agent)
    return past.given(GenesisCompleted(population=past.keep(b"[]"), count=4))


def executing(**changes) -> Past[View]:
    past = advance(born(**changes))
    for agent in NAMES:
        attempt = f"e001x1-{agent}"
        past.given(queued(attempt), started(past.now), of=attempt)
    return past


def sealed(past: Past[View], *names: str, attempt_try: int = 1, epoch: int = 1) -> Past[View]:
    for agent in names:
        attempt = f"e{epoch:03d}x{attempt_try}-{agent}"
        state = past.keep_tree(EMPTY)
        past.given(finished(state_out=state), of=attempt)
        past.given(frozen(past, attempt), of=attempt)
    return past


def graded(successes: int = 4, epoch: int = 1, **changes) -> Past[View]:
    past = advance(sealed(executing(**changes), *NAMES))
    return past.given(published(past, board(successes, 4 - successes), epoch), of="e001")


def selected(**changes) -> Past[View]:
    past = advance(graded(**changes))
    return past.given(SelectionClosed(epoch=1, changes=past.keep(b"[]"), count=0), of="e001")


def test_an_unknown_run_is_owed_nothing():
    """Before the request and after the end."""
    assert step(Past(View)) == []
    assert step(asked().given(RunFailed(reason="draft"))) == []


def test_a_failed_draft_fails_the_run():
    """Unless an earlier draft can still be approved."""
    no = BenchmarkDraftFailed(tries=3, reason="broken")
    (event,) = facts(step(asked().given(no)))
    assert (event.reason, event.detail) == ("draft", "broken")
    assert step(drafted().given(no)) == []


def test_nothing_happens_before_approval():
    """A declined benchmark is not approved any more."""
    assert step(asked()) == []
    assert step(drafted()) == []
    declined = BenchmarkDeclined(draft_no=1, declined_by="operator")
    assert step(approved().given(declined)) == []


def test_approval_asks_every_service_for_its_check():
    """Once."""
    past = approved()
    drafts = step(past)
    assert list(CHECKS) == [(c.service, c.check) for c in facts(drafts)[0].required]
    assert step(past.then(drafts)) == []


def test_a_failed_check_refuses_the_preflight_and_asks_for_approval_again():
    """Every failure is named, in order."""
    past = advance(approved())
    for service, check in CHECKS:
        past.given(PreflightCheckFailed(check=check, reason="no"), of=service)
    drafts = step(past)
    assert sorted(s for s, _ in CHECKS) == [f.service for f in facts(drafts)[0].failed]
    assert phase(past.then(drafts).view) == "awaiting_approval"


def test_passed_checks_lock_the_run_and_ask_for_generation_one():
    """In one batch, with what the checks resolved."""
    past = checked()
    drafts = step(past)
    locked, genesis = facts(drafts)
    assert (sha("seed"), sha("layer"), None) == (
        locked.runtime.seed_sha,
        locked.runtime.layer_sha,
        locked.runtime.models.api_base,
    )
    assert (genesis.slots, genesis.instructions) == (4, "Bear.")
    assert step(past.then(drafts)) == []


def test_the_first_epoch_opens_with_everybody_in_agent_order():
    """Its seed and its finalize time follow from the request."""
    past = born()
    drafts = step(past)
    (event,) = facts(drafts)
    assert (
        event.epoch,
        event.attempt_try,
        event.count,
        event.attempt_seconds,
        event.finalize_seconds,
    ) == (1, 1, 4, 60, 6)
    assert [row["agent"] for row in json.loads(drafts[0].blobs[0])] == NAMES
    assert step(past.then(drafts)) == []


@pytest.mark.parametrize(
    ("seconds", "expected"), [(1, 0), (2, 1), (20, 2), (60, 6), (299, 29), (300, 30), (3600, 30)]
)
def test_an_attempt_is_told_to_finish_a_tenth_before_its_deadline(seconds, expected):
    """At least two seconds, at most thirty, less than all."""
    assert expected == finalize_seconds(seconds)


def test_execution_closes_when_every_attempt_is_settled():
    """With or without evidence; rows in agent order."""
    past = sealed(executing(), *reversed(NAMES[:3]))
    assert step(past) == []
    gone = EvidenceUnavailable(attempt="e001x1-a0004", agent="a0004", reason="lost")
    drafts = step(past.given(gone, of="e001x1-a0004"))
    assert kinds(drafts) == ["epoch.execution_closed"]
    rows = json.loads(drafts[0].blobs[0])
    assert [row["agent"] for row in rows] == NAMES
    assert (rows[3]["outcome"], rows[3]["evidence"]) == ("failed", None)


def test_evidence_of_another_attempt_settles_nothing():
    """Nor does evidence before any epoch."""
    past = Past(View)
    past.given(frozen(past, "e009x1-a0001"), of="e009x1-a0001")
    past = executing()
    past.given(frozen(past, "e001x9-a0001"), of="e001x9-a0001")
    assert past.view.epoch.rows == {}


def test_silence_of_the_sandbox_pauses_the_run():
    """After twice the attempt's time and a minute."""
    past = executing()
    assert step(past, 179) == []
    drafts = step(past, 1)
    assert kinds(drafts) == ["epoch.stalled", "run.paused"]
    assert (drafts[1].data.cause, drafts[0].data.waiting) == ("sandbox", 4)


def test_silence_is_counted_from_the_opening_and_from_a_resume():
    """A long grading before, or a long pause, is no silence of the sandbox."""
    past = born()
    past.later(10_000)
    advance(past)
    assert step(past, 170) == []
    past = executing()
    past.then(step(past, 200)).later(10_000)
    past.given(RunResumed())
    assert step(past, 170) == []
    assert kinds(step(past, 20)) == ["epoch.stalled", "run.paused"]


def test_a_stall_is_due_only_while_attempts_run():
    """The timer of a paused or closed epoch never rings."""
    assert stall_due(Past(View).view, "main") is None
    past = executing()
    assert past.view.last_attempt_event + timedelta(seconds=180) == stall_due(past.view, "main")
    past.view.last_attempt_event = None
    assert stall_due(past.view, "main") is None
    assert step(past, 10_000) == []
    assert stall_due(graded().view, "main") is None


def test_a_graded_epoch_asks_for_selection():
    """Once, and then waits for the turnover."""
    past = graded()
    assert step(advance(sealed(executing(), *NAMES))) == []
    drafts = step(past)
    assert kinds(drafts) == ["epoch.selection_requested"]
    assert step(past.then(drafts)) == []


def test_a_board_of_another_epoch_is_not_this_ones():
    """Nor is its turnover."""
    past = advance(sealed(executing(), *NAMES))
    past.given(published(past, board(4), epoch=7), of="e007")
    past.given(SelectionClosed(epoch=7, changes=past.keep(b"[]"), count=0), of="e007")
    assert step(past) == []


def test_the_turnover_closes_the_epoch_and_opens_the_next():
    """With the states that the attempts left, without the archived, with new genomes."""
    past = advance(graded())
    past.given(AgentArchived(agent="a0004", epoch=1, rank=4, because="rank"), of="a0004")
    activated = AgentGenomeActivated(
        agent="a0002", previous=sha("a0002"), genome=sha("new"), epoch=1
    )
    past.given(activated, of="a0002")
    past.given(AgentBorn(agent="a0005", genome=sha("a0005"), birth_epoch=2), of="a0005")
    past.given(SelectionClosed(epoch=1, changes=past.keep(b"[]"), count=0), of="e001")
    drafts = step(past)
    assert kinds(drafts) == ["epoch.closed", "epoch.opened"]
    rows = {row["agent"]: row for row in json.loads(drafts[1].blobs[0])}
    assert {"a0001", "a0002", "a0003", "a0005"} == set(rows)
    assert sha("new") == rows["a0002"]["genome"]
    assert [bool(rows[a]["state"]) for a in ("a0001", "a0005")] == [True, False]
    assert past.then(drafts).view.epoch.number == 2


def test_a_closed_epoch_without_a_successor_is_followed_by_one():
    """A crash between the two events loses nothing."""
    past = selected().given(EpochClosed(epoch=1, next="epoch"), of="e001")
    assert kinds(step(past)) == ["epoch.opened"]


def test_the_last_epoch_completes_the_run():
    """The champion is the first of the board."""
    past = graded(epochs=1)
    drafts = step(past)
    assert kinds(drafts) == ["epoch.closed", "run.completed"]
    assert ("a0001", Decimal(99)) == (
        drafts[1].data.champion.agent,
        drafts[1].data.champion.score,
    )
    assert step(past.then(drafts)) == []


def test_an_epoch_without_success_fails_the_run():
    """Nobody is left to descend from."""
    drafts = step(graded(successes=0))
    assert [drafts[0].data.next, drafts[1].data.reason] == [("failed"), ("no_success")]


@pytest.mark.parametrize(
    ("mode", "at", "pauses"),
    [
        ("execution", "execution", True),
        ("grading", "execution", False),
        ("epoch", "execution", False),
        ("execution", "grading", True),
        ("grading", "grading", True),
        ("epoch", "grading", False),
        ("grading", "epoch", True),
        ("epoch", "epoch", True),
    ],
)
def test_a_wish_to_pause_waits_for_its_boundary(mode, at, pauses):
    """A boundary that was missed is followed by the next one."""
    past = {
        "execution": lambda: sealed(executing(), *NAMES),
        "grading": graded,
        "epoch": selected,
    }[at]()
    drafts = step(past.given(RunPauseRequested(mode=mode, reason="rest")))
    assert pauses == (kinds(drafts) == ["run.paused"])
    if pauses:
        assert step(past.then(drafts)) == []
        assert kinds(step(past.given(RunResumed()))) != ["run.paused"]


def test_a_wish_stops_a_run_before_its_first_epoch():
    """Nothing is opened; the pause names the phase."""
    (event,) = facts(step(born().given(RunPauseRequested(mode="epoch"))))
    assert (event.phase, event.epoch, event.cause) == ("executing", None, "operator")


def test_a_pause_now_abandons_the_running_epoch_when_nothing_lives():
    """The next try starts from the same population."""
    past = executing().given(RunPauseRequested(mode="now"))
    assert step(past) == []
    for agent in NAMES:
        past.given(finished("cancelled"), of=f"e001x1-{agent}")
    drafts = step(past)
    assert kinds(drafts) == ["epoch.abandoned", "run.paused"]
    past.then(drafts)
    assert phase(past.view) == "executing"
    assert step(past) == []
    (event,) = facts(step(past.given(RunResumed())))
    assert (event.epoch, event.attempt_try) == (1, 2)


def test_a_pause_now_between_epochs_abandons_nothing():
    """What is closed stays."""
    assert kinds(step(graded().given(RunPauseRequested(mode="now")))) == ["run.paused"]
    assert kinds(step(born().given(RunPauseRequested(mode="now")))) == ["run.paused"]


@pytest.mark.parametrize(
    ("event", "cause"),
    [
        (GradingInterrupted(stage="facts", reason="x"), "grading_interrupted"),
        (SelectionAbandoned(epoch=1, stage="briefs", reason="x"), "selection"),
        (GenesisBatchFailed(batch=0, tries=3, reason="x", retryable=False), "provider"),
    ],
)
def test_trouble_pauses_the_run_with_its_cause(event, cause):
    """A person decides whether it goes on; the resume clears it."""
    past = graded().given(event)
    drafts = step(past)
    assert [("run.paused", cause)] == [(d.data.type, d.data.cause) for d in drafts]
    assert "epoch.selection_requested" in kinds(step(past.then(drafts).given(RunResumed())))


@pytest.mark.parametrize(("reason", "cause"), [("provider", "provider"), ("machine", "sandbox")])
def test_a_held_attempt_pauses_the_run_and_abandons_nothing(reason, cause):
    """The others run on; after the resume the epoch closes with all of them."""
    past = sealed(executing(), *NAMES[:3])
    past.given(AttemptHeld(reason=reason, detail="gone"), of="e001x1-a0004")
    drafts = step(past)
    assert [("run.paused", cause)] == [(d.data.type, d.data.cause) for d in drafts]
    past.then(drafts).given(RunResumed())
    assert step(past) == []
    assert kinds(step(sealed(past, "a0004"))) == ["epoch.execution_closed"]


def test_a_retryable_failure_is_no_trouble():
    """The evolver asks again by itself."""
    failed = GenesisBatchFailed(batch=0, tries=0, reason="x", retryable=True)
    assert step(advance(checked()).given(failed)) == []


def test_an_exhausted_budget_stops_at_the_next_epoch():
    """What is paid for is still graded."""
    past = selected().given(BudgetExhausted(scope="run", limit="tokens", used=2, cap=1))
    assert [event.cause for event in facts(step(past))] == ["budget"]


def test_a_cancelled_run_ends_when_nothing_lives():
    """The sandbox stops its attempts first."""
    past = executing().given(RunCancelRequested())
    assert step(past) == []
    for agent in NAMES:
        past.given(finished("cancelled"), of=f"e001x1-{agent}")
    (event,) = facts(step(past))
    assert event.epoch == 1
    assert facts(step(asked().given(RunCancelRequested())))[0].epoch is None


def test_phases_have_names():
    """What a person sees the run doing."""
    assert [
        phase(past.view)
        for past in (
            Past(View),
            asked(),
            drafted(),
            approved(),
            advance(checked()),
            born(),
            executing(),
            advance(sealed(executing(), *NAMES)),
            graded(),
        )
    ] == [
        "absent",
        "drafting",
        "awaiting_approval",
        "preflight",
        "genesis",
        "executing",
        "executing",
        "grading",
        "selecting",
    ]


def test_a_changed_lock_stops_the_run_before_the_next_phase():
    """Violation and pause say which lock, before what."""
    past = graded()
    past.blobs[past.view.locked.benchmark.sha256] = b"{}"
    violated, paused = facts(step(past))
    assert (
        violated.lock,
        violated.noticed_before,
        paused.cause,
    ) == ("benchmark", "grading", "lock")


def changed(past: Past[View], **changes: object) -> str | None:
    past.view.locked = past.view.locked.model_copy(update=changes)
    found = locks.violation(past.view)
    return found.lock if found else None


def test_every_lock_is_compared():
    """Objective, runtime, tools and benchmark; missing and damaged blobs too."""
    assert locks.violation(Past(View).view) is None
    past = born()
    assert locks.violation(past.view) is None
    assert changed(born(), objective_sha=sha("x")) == "objective"
    assert changed(born(), runtime_sha=sha("x")) == "runtime"
    del past.blobs[past.view.locked.tool_manifest.sha256]
    assert locks.violation(past.view)[::2] == ("tool_manifest", "missing")

    def damaged(ref: object) -> bytes:
        raise ValueError("damaged")

    past.view.read = damaged
    assert locks.violation(past.view)[::2] == ("benchmark", "damaged")


def test_locks_are_equal_on_every_machine():
    """The address of the model server is no part of the runtime."""
    one, two = checked(), checked(models={"specialist": "big", "organism": "small"})
    shas = [facts(step(past))[0].locks_sha for past in (one, two)]
    assert shas[0] == shas[1]
    assert isinstance(facts(step(one))[0], RunLocked)


def test_time_is_an_argument():
    """The same facts at the same time give the same events."""
    past = executing()
    at = START + timedelta(days=1)
    assert next_step(past.view, "main", at) == next_step(past.view, "main", at)
