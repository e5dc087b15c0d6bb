"""The life of an attempt: start, crash, restart, finish. One function a decision."""

from datetime import datetime, timedelta
from typing import NamedTuple

from schemas import BlobRef, Draft, TreeRef
from schemas.events.attempt import (
    AttemptCrashed,
    AttemptFinished,
    AttemptRestarted,
    AttemptStarted,
)
from schemas.events.evidence import EvidenceFrozen, EvidenceUnavailable
from services.sandbox.core.view import Attempt, View

SHORTEST_RESTART = 5.0


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
    if attempt.finished is not None:
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
    """A crash goes on against the first start; a lost lease begins its time anew."""
    first = attempt.first_started_at
    seconds = float(attempt.queued.wall_seconds)
    return (first, seconds) if first is not None and attempt.crashes else (now, seconds)


def _lease_lost(view: View, about: str, attempt: Attempt) -> list[Draft]:
    """Whoever held it is gone. It costs the agent none of its restarts."""
    crashed = AttemptCrashed(restart=attempt.restart, reason="lease_lost")
    again = AttemptRestarted(
        restart=attempt.restart + 1, seconds_left=float(attempt.queued.wall_seconds)
    )
    return [Draft(about, crashed, epoch_of(view)), Draft(about, again, epoch_of(view))]


def end(view: View, about: str, now: datetime, ended: Ended) -> list[Draft]:
    """Finished, or crashed and restarted while restarts and time remain."""
    attempt = view.attempts[about]
    if attempt.finished is not None:
        return []
    if ended.reason == "stopped" or (view.stopping and not ended.valid):
        return [_finish(view, about, attempt, ended, "cancelled")]
    if ended.valid:
        return [_finish(view, about, attempt, ended, "completed")]
    if ended.reason == "deadline":
        return [_finish(view, about, attempt, ended, "deadline")]
    return _crash(view, about, attempt, now, ended)


def _crash(view: View, about: str, attempt: Attempt, now: datetime, ended: Ended) -> list[Draft]:
    crashed = AttemptCrashed(
        restart=attempt.restart,
        reason=ended.reason,  # type: ignore[arg-type]
        exit_code=ended.exit_code,
        log_tail=ended.log,
        detail=ended.detail[:2000],
    )
    drafts = [Draft(about, crashed, epoch_of(view), ended.blobs)]
    left = seconds_left(attempt, now)
    if attempt.crashes < attempt.queued.limits.restarts and left > SHORTEST_RESTART:
        again = AttemptRestarted(restart=attempt.restart + 1, seconds_left=left)
        return [*drafts, Draft(about, again, epoch_of(view))]
    return [*drafts, _finish(view, about, attempt, ended, "failed")]


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
