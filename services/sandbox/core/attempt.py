"""The life of an attempt: start, crash, restart, finish. One function a decision."""

from datetime import datetime, timedelta
from typing import NamedTuple

from schemas import BlobRef, Draft, TreeRef
from schemas.events.attempt import (
    INFRASTRUCTURE,
    AttemptCrashed,
    AttemptFinished,
    AttemptHeld,
    AttemptRestarted,
    AttemptStarted,
)
from schemas.events.evidence import EvidenceFrozen, EvidenceUnavailable
from services.sandbox.core.view import Attempt, View

SHORTEST_RESTART = 5.0
FAULT_RESTARTS = 3
FIRST_PAUSE_SECONDS = 1.0


class Ended(NamedTuple):
    """How one stay ended, and what it left in the store."""

    reason: str
    detail: str
    exit_code: int | None
    valid: bool
    wall_seconds: float
    cpu_seconds: float
    state_out: TreeRef | None = None
    result: BlobRef | None = None
    evidence: BlobRef | None = None
    log: BlobRef | None = None
    blobs: tuple[bytes, ...] = ()


def start(view: View, about: str, now: datetime, node: str) -> list[Draft]:
    """The first start fixes the deadline; a restart keeps it; a lost lease shifts it."""
    attempt = view.attempts[about]
    if attempt.finished is not None or attempt.held:
        return []
    if attempt.started is not None:
        return _lease_lost(view, about, attempt)
    began, seconds = _begin(attempt, now)
    deadline = began + timedelta(seconds=seconds)
    finalize = deadline - timedelta(seconds=attempt.queued.finalize_seconds)
    started = AttemptStarted(
        restart=attempt.restart,
        node=node,
        started_at=now,
        finalize_at=finalize,
        deadline_at=deadline,
    )
    return [Draft(about, started, epoch_of(view))]


def _begin(attempt: Attempt, now: datetime) -> tuple[datetime, float]:
    """A crash goes on against the first start; after the machine's fault all time is there."""
    return attempt.first_started_at or now, float(attempt.queued.wall_seconds)


def pause(attempt: Attempt) -> float:
    """Seconds to wait before the next start: 1, 4, 16 after faults that are not the agent's."""
    return FIRST_PAUSE_SECONDS * 4.0 ** (attempt.faults - 1) if attempt.faults else 0.0


def _lease_lost(view: View, about: str, attempt: Attempt) -> list[Draft]:
    """Whoever held it is gone. It costs the agent none of its restarts."""
    crashed = AttemptCrashed(restart=attempt.restart, reason="lease_lost")
    return [Draft(about, crashed, epoch_of(view)), _again(view, about, attempt)]


def end(view: View, about: str, now: datetime, ended: Ended) -> list[Draft]:
    """Finished, or crashed and restarted while restarts and time remain.

    Without a model nothing was attempted, so not even a valid result counts.
    """
    attempt = view.attempts[about]
    if attempt.finished is not None:
        return []
    if ended.reason == "stopped" or (view.stopping and not ended.valid):
        return [_finish(view, about, attempt, ended, "cancelled")]
    if ended.reason in INFRASTRUCTURE or view.outage.unserved(about):
        return _not_its_own(view, about, attempt, ended)
    if ended.valid:
        return [_finish(view, about, attempt, ended, "completed")]
    if ended.reason == "deadline":
        return [_finish(view, about, attempt, ended, "deadline")]
    return _crash(view, about, attempt, now, ended)


def _crash(view: View, about: str, attempt: Attempt, now: datetime, ended: Ended) -> list[Draft]:
    drafts = [_crashed(view, about, attempt, ended)]
    left = seconds_left(attempt, now)
    if attempt.crashes < attempt.queued.limits.restarts and left > SHORTEST_RESTART:
        again = AttemptRestarted(restart=attempt.restart + 1, seconds_left=left)
        return [*drafts, Draft(about, again, epoch_of(view))]
    return [*drafts, _finish(view, about, attempt, ended, "failed")]


def _not_its_own(view: View, about: str, attempt: Attempt, ended: Ended) -> list[Draft]:
    """Tried again with all its time; after some tries it waits for the resume of the run.

    Who has waited in vain for a model until its deadline has tried for long enough.
    """
    reason = ended.reason if ended.reason in INFRASTRUCTURE else "provider"
    crashed = _crashed(view, about, attempt, ended._replace(reason=reason))
    if attempt.faults < FAULT_RESTARTS and ended.reason != "deadline":
        return [crashed, _again(view, about, attempt)]
    detail = f"no answer of the model to {about}" if reason == "provider" else ended.detail
    held = AttemptHeld(reason=reason, detail=detail[:2000])
    return [crashed, Draft(about, held, epoch_of(view))]


def _crashed(view: View, about: str, attempt: Attempt, ended: Ended) -> Draft:
    crashed = AttemptCrashed(
        restart=attempt.restart,
        reason=ended.reason,  # type: ignore[arg-type]
        exit_code=ended.exit_code,
        log_tail=ended.log,
        detail=ended.detail[:2000],
    )
    return Draft(about, crashed, epoch_of(view), ended.blobs)


def _again(view: View, about: str, attempt: Attempt) -> Draft:
    seconds = float(attempt.queued.wall_seconds)
    again = AttemptRestarted(restart=attempt.restart + 1, seconds_left=seconds)
    return Draft(about, again, epoch_of(view))


def restart_held(view: View, about: str, now: datetime) -> list[Draft]:
    """A resume is a person's word that the machine or the provider is back."""
    attempt = view.attempts.get(about)
    if attempt is None or attempt.finished or not attempt.held or view.stopping or view.terminal:
        return []
    return [_again(view, about, attempt)]


def seconds_left(attempt: Attempt, now: datetime) -> float:
    if attempt.started is None:
        return float(attempt.queued.wall_seconds)
    return (attempt.started.deadline_at - now).total_seconds()


def _finish(view: View, about: str, attempt: Attempt, ended: Ended, outcome: str) -> Draft:
    finished = AttemptFinished(
        outcome=outcome,  # type: ignore[arg-type]
        because="" if outcome == "completed" else f"{ended.reason} {ended.detail}".strip()[:2000],
        restarts=attempt.restart,
        exit_code=ended.exit_code,
        state_out=ended.state_out,
        result=ended.result,
        evidence=ended.evidence,
        log=ended.log,
        wall_seconds=round(ended.wall_seconds, 3),
        cpu_seconds=round(ended.cpu_seconds, 3),
    )
    return Draft(about, finished, epoch_of(view), ended.blobs)


def cancel(view: View, about: str, now: datetime) -> list[Draft]:
    """An attempt that never started needs nobody to end it."""
    attempt = view.attempts.get(about)
    if not view.stopping or attempt is None or attempt.finished or attempt.started:
        return []
    return [Draft(about, AttemptFinished(outcome="cancelled", because="stopped before its start"))]


def seal(view: View, about: str, now: datetime) -> list[Draft]:
    """The evidence of a finished attempt, or that there is none."""
    attempt = view.attempts.get(about)
    if attempt is None or attempt.finished is None or attempt.sealed:
        return []
    if attempt.queued.purpose != "epoch":
        return []
    if attempt.finished.evidence is None:
        gone = EvidenceUnavailable(
            attempt=about, agent=attempt.queued.agent or "", reason=attempt.finished.because
        )
        return [Draft(about, gone, epoch_of(view))]
    frozen = EvidenceFrozen.model_validate_json(view.read(attempt.finished.evidence))
    return [Draft(about, frozen, epoch_of(view))]


def epoch_of(view: View) -> int | None:
    return view.epoch.epoch if view.epoch else None
