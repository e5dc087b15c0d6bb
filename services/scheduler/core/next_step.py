"""The whole process manager: given everything that is true, what is due? One function a phase."""

from datetime import datetime, timedelta

from schemas import Draft, Event, ids
from schemas.canonical import listed, rows
from schemas.events.epoch import (
    EpochAbandoned,
    EpochClosed,
    EpochExecutionClosed,
    EpochOpened,
    EpochSelectionRequested,
    EpochStalled,
)
from schemas.events.run import (
    Champion,
    PauseMode,
    RequiredCheck,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunGenesisRequested,
    RunLockViolated,
    RunPaused,
    RunPreflightRefused,
    RunPreflightRequested,
)
from schemas.values.benchmark import Benchmark
from schemas.values.population import RankedRow
from services.scheduler.core import locks
from services.scheduler.core.view import EpochView, PauseWish, View

CHECKS = (
    ("sandbox", "isolation"),
    ("broker", "models"),
    ("lineage", "seed"),
    ("grader", "benchmark"),
)
STOPS_AT: dict[str, tuple[PauseMode, ...]] = {
    "execution": ("execution", "now"),
    "grading": ("execution", "grading", "now"),
    "epoch": ("execution", "grading", "epoch", "now"),
}


def next_step(view: View, about: str, now: datetime) -> list[Draft]:
    """The events the scheduler owes the run, or nothing."""
    if view.request is None or view.terminal:
        return []
    if view.cancel is not None:
        return _cancelling(view)
    if view.paused is not None:
        return []
    if view.trouble is not None:
        return [_pause(view, view.trouble)]
    if view.wish is not None and view.wish.mode == "now":
        return _stopping_now(view, view.wish)
    if view.epoch is not None and not view.epoch.abandoned:
        return _in_epoch(view, view.epoch, now)
    if view.locked is None:
        return _before_lock(view)
    if not view.genesis_done:
        return []
    return _open(view, now)


def phase(view: View) -> str:
    """The name of what the run is doing or waiting for."""
    if view.request is None:
        return "absent"
    if view.locked is None:
        return _early_phase(view)
    if view.epoch is None or view.epoch.abandoned:
        return "genesis" if not view.genesis_done else "executing"
    if not view.epoch.execution_closed:
        return "executing"
    return "grading" if view.epoch.leaderboard is None else "selecting"


def _early_phase(view: View) -> str:
    if view.drafted is None:
        return "drafting"
    if view.approved is None:
        return "awaiting_approval"
    return "preflight"


def _cancelling(view: View) -> list[Draft]:
    """Cancelled once nothing runs any more: the sandbox stops its attempts by itself."""
    if view.live:
        return []
    return [_run(RunCancelled(epoch=view.epoch.number if view.epoch else None))]


def _stopping_now(view: View, wish: PauseWish) -> list[Draft]:
    if view.live:
        return []
    pause = _pause(view, wish)
    epoch = view.epoch
    if epoch is None or epoch.abandoned or epoch.execution_closed:
        return [pause]
    gone = EpochAbandoned(epoch=epoch.number, attempt_try=epoch.attempt_try, reason="paused now")
    return [Draft(ids.epoch_id(epoch.number), gone, epoch.number), pause]


def _before_lock(view: View) -> list[Draft]:
    assert view.request is not None
    if view.draft_failed is not None and view.drafted is None:
        return [_run(RunFailed(reason="draft", detail=view.draft_failed.reason))]
    if view.approved is None or view.drafted is None:
        return []
    if view.preflight is None:
        required = tuple(RequiredCheck(service=s, check=c) for s, c in CHECKS)
        return [_run(RunPreflightRequested(benchmark=view.drafted.benchmark, required=required))]
    return _preflight(view)


def _preflight(view: View) -> list[Draft]:
    assert view.preflight is not None and view.request is not None
    required = {(check.service, check.check) for check in view.preflight.required}
    if not required <= set(view.passed) | set(view.failed):
        return []
    if view.failed:
        failed = tuple(view.failed[key] for key in sorted(view.failed))
        return [_run(RunPreflightRefused(failed=failed))]
    resolved = {k: v for found in view.passed.values() for k, v in found.resolved.items()}
    found = locks.lock(view, view.request, resolved)
    benchmark = Benchmark.model_validate_json(view.read(view.preflight.benchmark))
    genesis = RunGenesisRequested(
        slots=view.request.population,
        starter=view.request.starter,
        instructions=benchmark.instructions.birther,
    )
    return [_run(found.event, blobs=found.blobs), _run(genesis)]


def _open(view: View, now: datetime) -> list[Draft]:
    """Open the next epoch, or the same one again after an abandoned try."""
    assert view.request is not None and view.locked is not None
    if stop := _gate(view, "epoch"):
        return stop
    last = view.epoch
    number = last.number + (0 if last.abandoned else 1) if last else 1
    attempt_try = last.attempt_try + 1 if last and last.abandoned else 1
    ordered = sorted(view.population, key=ids.agent_number)
    members = rows(view.population[agent] for agent in ordered)
    seconds = view.request.epoch_seconds
    opened = EpochOpened(
        epoch=number,
        attempt_try=attempt_try,
        agents=members.ref,
        count=members.count,
        attempt_seconds=seconds,
        finalize_seconds=finalize_seconds(seconds),
        seed=ids.seed_of(view.request.seed, "epoch", number),
        locks_sha=view.locked.locks_sha,
    )
    return [Draft(ids.epoch_id(number), opened, number, (members.content,))]


def finalize_seconds(attempt_seconds: int) -> int:
    """How long before its deadline an attempt is told to finish: 10 %, 2 to 30 s."""
    return min(30, max(2, attempt_seconds // 10), max(attempt_seconds - 1, 0))


def _in_epoch(view: View, epoch: EpochView, now: datetime) -> list[Draft]:
    if not epoch.execution_closed:
        return _executing(view, epoch, now)
    if epoch.leaderboard is None:
        return []
    if epoch.closed:
        return _open(view, now)
    if not epoch.selection_requested:
        return _graded(view, epoch)
    if not epoch.selection_closed:
        return []
    if stop := _gate(view, "epoch"):
        return stop
    return [_epoch(epoch, EpochClosed(epoch=epoch.number, next="epoch")), *_open(view, now)]


def _executing(view: View, epoch: EpochView, now: datetime) -> list[Draft]:
    if len(epoch.rows) < len(epoch.attempts):
        return _stalled(view, epoch, now)
    if stop := _gate(view, "execution"):
        return stop
    ordered = sorted(epoch.rows.values(), key=lambda row: ids.agent_number(row.agent))
    attempts = rows(ordered)
    closed = EpochExecutionClosed(
        epoch=epoch.number,
        attempt_try=epoch.attempt_try,
        attempts=attempts.ref,
        count=attempts.count,
    )
    return [_epoch(epoch, closed, (attempts.content,))]


def stall_due(view: View, about: str) -> datetime | None:
    """When silence of the sandbox becomes a reason to pause; a timer rings then."""
    epoch = view.epoch
    if epoch is None or epoch.execution_closed or view.paused or view.terminal:
        return None
    if view.last_attempt_event is None:
        return None
    return view.last_attempt_event + timedelta(seconds=2 * epoch.attempt_seconds + 60)


def _stalled(view: View, epoch: EpochView, now: datetime) -> list[Draft]:
    due = stall_due(view, "main")
    if due is None or now < due:
        return []
    waiting = len(epoch.attempts) - len(epoch.rows)
    stalled = EpochStalled(epoch=epoch.number, attempt_try=epoch.attempt_try, waiting=waiting)
    wish = PauseWish("now", "sandbox", f"no sign of {waiting} attempts")
    return [_epoch(epoch, stalled), _pause(view, wish)]


def _graded(view: View, epoch: EpochView) -> list[Draft]:
    assert view.request is not None and epoch.leaderboard is not None
    board = listed(view.read(epoch.leaderboard.rows), RankedRow)
    if epoch.leaderboard.successes == 0:
        failed = RunFailed(reason="no_success", epoch=epoch.number)
        return [_epoch(epoch, EpochClosed(epoch=epoch.number, next="failed")), _run(failed)]
    if epoch.number >= view.request.epochs:
        closed = EpochClosed(epoch=epoch.number, next="completed")
        return [_epoch(epoch, closed), _run(_completed(epoch, board[0]))]
    if stop := _gate(view, "grading"):
        return stop
    requested = EpochSelectionRequested(epoch=epoch.number, attempt_try=epoch.attempt_try)
    return [_epoch(epoch, requested)]


def _completed(epoch: EpochView, best: RankedRow) -> RunCompleted:
    assert epoch.leaderboard is not None
    return RunCompleted(
        epochs_run=epoch.number,
        champion=Champion(agent=best.agent, genome=best.genome, score=best.score),
        leaderboard_sha=epoch.leaderboard.rows.sha256,
    )


def _gate(view: View, boundary: str) -> list[Draft]:
    """Instead of an opener: a pause that is due here, or a lock that does not hold."""
    broken = locks.violation(view)
    if broken is not None:
        wish = PauseWish("now", "lock", f"{broken.lock} has changed")
        event = RunLockViolated(
            lock=broken.lock,
            expected_sha=broken.expected,
            actual_sha=broken.actual,
            noticed_before=boundary,
        )
        return [_run(event), _pause(view, wish)]
    if view.wish is not None and view.wish.mode in STOPS_AT[boundary]:
        return [_pause(view, view.wish)]
    return []


def _pause(view: View, wish: PauseWish) -> Draft:
    number = view.epoch.number if view.epoch else None
    return _run(
        RunPaused(cause=wish.cause, phase=phase(view), epoch=number, detail=wish.reason[:2000])
    )


def _run(event: Event, blobs: tuple[bytes, ...] = ()) -> Draft:
    return Draft(ids.MAIN, event, None, blobs)


def _epoch(epoch: EpochView, event: Event, blobs: tuple[bytes, ...] = ()) -> Draft:
    return Draft(ids.epoch_id(epoch.number), event, epoch.number, blobs)
