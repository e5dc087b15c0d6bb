"""The life of an attempt."""

from datetime import timedelta

import pytest

from schemas import canonical
from schemas.events.attempt import AttemptCrashed
from schemas.events.evidence import EvidenceUnavailable
from schemas.events.run import RunCancelRequested, RunPauseRequested, RunResumed
from schemas.values.runtime import Limits
from services.sandbox.core import attempt
from services.sandbox.core.attempt import Ended
from services.sandbox.core.view import View
from tests.support.calls import failed
from tests.support.given import (
    START,
    Past,
    facts,
    file,
    finished,
    frozen,
    kinds,
    opened,
    queued,
)

ONE = "e001x1-a0001"


def waiting(**changes) -> Past[View]:
    past = Past(View)
    past.given(opened(past, ["a0001"]), of="e001")
    return past.given(queued(ONE, **changes), of=ONE)


def start(past: Past[View]):
    return attempt.start(past.view, ONE, past.now, "node")


def running(**changes) -> Past[View]:
    past = waiting(**changes)
    return past.then(start(past))


def ended(reason: str = "exit", valid: bool = False, **more) -> Ended:
    return Ended(reason, "detail", 1, valid, 1.23456, 0.5, **more)


def end(past: Past[View], what: Ended, seconds: float = 1):
    return attempt.end(past.view, ONE, past.later(seconds), what)


def test_the_first_start_fixes_the_deadline():
    """Every agent has its own full time from its own start."""
    past = waiting()
    past.later(1000)
    (event,) = facts(start(past))
    assert (0, past.now + timedelta(seconds=60), past.now + timedelta(seconds=54)) == (
        event.restart,
        event.deadline_at,
        event.finalize_at,
    )


def test_a_valid_end_completes_the_attempt():
    """Whatever the reason of its end."""
    past = running()
    (event,) = facts(end(past, ended("deadline", valid=True)))
    assert (event.outcome, event.because, event.wall_seconds) == ("completed", "", 1.235)


@pytest.mark.parametrize(
    ("reason", "outcome"), [("deadline", "deadline"), ("stopped", "cancelled")]
)
def test_an_end_from_outside_is_no_crash(reason, outcome):
    """The clock and the operator are nobody's failure."""
    assert [outcome] == [e.outcome for e in facts(end(running(), ended(reason)))]


@pytest.mark.parametrize("event", [RunCancelRequested(), RunPauseRequested(mode="now")])
def test_a_crash_while_the_run_stops_is_a_cancellation(event):
    """But a valid result stays valid."""
    past = running().given(event)
    assert [e.outcome for e in facts(end(past, ended()))] == ["cancelled"]
    assert [e.outcome for e in facts(end(past, ended(valid=True)))] == ["completed"]


def test_a_pause_at_a_boundary_stops_nothing():
    """And a resume takes back a stop."""
    past = running().given(RunPauseRequested(mode="epoch"))
    assert kinds(end(past, ended())) == ["attempt.crashed", "attempt.restarted"]
    past.given(RunPauseRequested(mode="now"), RunResumed())
    assert kinds(end(past, ended())) == ["attempt.crashed", "attempt.restarted"]


def test_a_crash_is_restarted_against_the_first_deadline():
    """Three times; the fourth crash fails the attempt."""
    past = running()
    deadline = past.view.attempts[ONE].started.deadline_at
    for restart in (1, 2, 3):
        drafts = end(past, ended())
        assert kinds(drafts) == ["attempt.crashed", "attempt.restarted"]
        assert restart == drafts[1].data.restart
        past.then(drafts).then(start(past))
        assert deadline == past.view.attempts[ONE].started.deadline_at
    crashed, done = facts(end(past, ended("oom")))
    assert (
        crashed.reason,
        done.outcome,
        done.because,
        done.restarts,
    ) == ("oom", "failed", "oom detail", 3)


def test_there_is_no_restart_in_the_last_seconds():
    """Five seconds are too few to start in."""
    assert kinds(end(running(), ended(), 53)) == ["attempt.crashed", "attempt.restarted"]
    assert kinds(end(running(), ended(), 54)) == ["attempt.crashed", "attempt.finished"]


def test_without_restarts_the_first_crash_fails():
    """A trial and a measurement have one chance."""
    past = running(limits=Limits(restarts=0))
    assert kinds(end(past, ended())) == ["attempt.crashed", "attempt.finished"]


@pytest.mark.parametrize("reason", ["start_failed", "machine"])
def test_the_machines_fault_costs_no_restart_and_no_time(reason):
    """Whenever it happens, and whatever the agent's own crashes before it cost."""
    past = running()
    past.then(end(past, ended(), 50)).then(start(past))
    drafts = end(past, ended(reason, valid=True), 3)
    assert kinds(drafts) == ["attempt.crashed", "attempt.restarted"]
    assert drafts[1].data.seconds_left == 60.0
    past.then(drafts)
    past.then(start(past))
    now = past.view.attempts[ONE]
    assert (now.crashes, now.faults, now.started.restart) == (1, 1, 2)
    assert now.started.deadline_at - now.started.started_at == timedelta(seconds=60)


def held(reason: str = "machine") -> Past[View]:
    past = running()
    for _ in range(attempt.FAULT_RESTARTS):
        past.then(end(past, ended(reason))).then(start(past))
    return past.then(end(past, ended(reason)))


def test_a_fault_that_stays_holds_the_attempt_until_the_resume():
    """Longer pauses first; then nothing starts it but the resume, which gives it new tries."""
    past, pauses = running(), []
    for _ in range(attempt.FAULT_RESTARTS):
        past.then(end(past, ended("machine")))
        pauses.append(attempt.pause(past.view.attempts[ONE]))
        past.then(start(past))
    assert pauses == [1.0, 4.0, 16.0]
    drafts = end(past, ended("machine"))
    assert kinds(drafts) == ["attempt.crashed", "attempt.held"]
    past.then(drafts)
    assert start(past) == []
    drafts = attempt.restart_held(past.given(RunResumed()).view, ONE, past.now)
    assert kinds(drafts) == ["attempt.restarted"]
    past.then(drafts)
    assert attempt.restart_held(past.view, ONE, past.now) == []
    assert attempt.pause(past.view.attempts[ONE]) == 0.0
    past.then(start(past))
    assert kinds(end(past, ended("machine"))) == ["attempt.crashed", "attempt.restarted"]


@pytest.mark.parametrize("event", [RunCancelRequested(), RunPauseRequested(mode="now")])
def test_a_held_attempt_can_be_stopped(event):
    """It does not start again after that."""
    past = held().given(event)
    assert attempt.restart_held(past.view, ONE, past.now) == []
    drafts = attempt.cancel(past.view, ONE, past.now)
    assert [e.outcome for e in facts(drafts)] == ["cancelled"]
    past.then(drafts)
    assert attempt.restart_held(past.view, ONE, past.now) == []
    assert attempt.restart_held(past.view, "other", past.now) == []


def test_without_a_model_not_even_a_valid_result_counts():
    """The provider's fault is not the agent's."""
    past = running().given(failed(ONE), of="c1")
    for valid in (True, False):
        drafts = end(past, ended(valid=valid))
        assert kinds(drafts) == ["attempt.crashed", "attempt.restarted"]
        assert drafts[0].data.reason == "provider"
    drafts = end(past, ended("deadline"))
    assert (kinds(drafts), drafts[0].data.reason) == (
        ["attempt.crashed", "attempt.held"],
        "provider",
    )
    past.given(RunCancelRequested())
    assert [e.outcome for e in facts(end(past, ended()))] == ["cancelled"]


def test_a_lost_lease_costs_no_restart_and_no_time():
    """The machine's failure is not the agent's."""
    past = running()
    past.later(50)
    drafts = start(past)
    assert kinds(drafts) == ["attempt.crashed", "attempt.restarted"]
    assert drafts[0].data.reason == "lease_lost"
    past.then(drafts).then(start(past))
    now = past.view.attempts[ONE]
    assert (
        now.crashes,
        now.started.restart,
        (now.started.deadline_at - now.started.started_at).total_seconds(),
    ) == (0, 1, 60.0)


def test_after_lost_leases_all_own_restarts_remain():
    """Only the agent's own crashes are counted."""
    past = running()
    for _ in range(4):
        past.then(start(past)).then(start(past))
    assert kinds(end(past, ended())) == ["attempt.crashed", "attempt.restarted"]


def test_a_finished_attempt_neither_starts_nor_ends():
    """Nor is it cancelled."""
    past = running()
    past.then(end(past, ended(valid=True)))
    assert start(past) == []
    assert end(past, ended()) == []
    assert attempt.cancel(past.given(RunCancelRequested()).view, ONE, START) == []


def test_an_attempt_that_never_started_is_cancelled_by_the_stop():
    """A running one is ended by whoever runs it."""
    past = waiting()
    assert attempt.cancel(past.view, ONE, START) == []
    past.given(RunCancelRequested())
    assert [e.outcome for e in facts(attempt.cancel(past.view, ONE, START))] == ["cancelled"]
    assert attempt.cancel(running().given(RunCancelRequested()).view, ONE, START) == []
    assert attempt.cancel(past.view, "other", START) == []


def test_evidence_is_sealed_once_after_the_end():
    """What was frozen stands in the end's own blob."""
    past = running()
    assert attempt.seal(past.view, ONE, START) == []
    evidence = past.keep(canonical(frozen(past, ONE, file("a"))))
    past.given(finished(evidence=evidence), of=ONE)
    drafts = attempt.seal(past.view, ONE, START)
    assert [frozen(past, ONE, file("a"))] == facts(drafts)
    assert attempt.seal(past.then(drafts).view, ONE, START) == []
    assert attempt.seal(past.view, "other", START) == []


def test_an_end_without_evidence_says_so():
    """With its reason."""
    past = running().given(finished("failed", because="oom"), of=ONE)
    expected = EvidenceUnavailable(attempt=ONE, agent="a0001", reason="oom")
    assert [expected] == facts(attempt.seal(past.view, ONE, START))


def test_only_epochs_leave_evidence():
    """A reflection leaves a mutation."""
    past = running(purpose="reflection").given(finished(), of=ONE)
    assert attempt.seal(past.view, ONE, START) == []


def test_facts_about_an_unknown_attempt_are_ignored():
    """Before any epoch there is no epoch number."""
    past = Past(View).given(AttemptCrashed(restart=0, reason="exit"), of="other")
    assert past.view.attempts == {}
    assert attempt.epoch_of(past.view) is None
