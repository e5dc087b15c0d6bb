"""Rows about runs and epochs: where each stands, and how its scores went."""

from collections.abc import Callable
from decimal import Decimal
from statistics import median

from schemas import BlobRef, Event, Recorded
from schemas.canonical import listed
from schemas.events.benchmark import (
    BenchmarkApproved,
    BenchmarkDeclined,
    BenchmarkDrafted,
    BenchmarkDraftFailed,
    BenchmarkDraftQueued,
)
from schemas.events.epoch import (
    EpochAbandoned,
    EpochClosed,
    EpochExecutionClosed,
    EpochOpened,
    EpochSelectionRequested,
)
from schemas.events.leaderboard import LeaderboardPublished
from schemas.events.preflight import PreflightCheckPassed
from schemas.events.run import (
    RunCancelled,
    RunCancelRequested,
    RunCompleted,
    RunFailed,
    RunGenesisRequested,
    RunLocked,
    RunPaused,
    RunPauseRequested,
    RunPreflightRefused,
    RunPreflightRequested,
    RunRequested,
    RunResumed,
)
from schemas.events.selection import SelectionClosed
from schemas.values.population import RankedRow
from services.lineage.projections.writes import Write, run_set, update, upsert

Read = Callable[[BlobRef], bytes]

HANDLES: tuple[type[Event], ...] = (
    RunRequested, BenchmarkDraftQueued, BenchmarkDrafted, BenchmarkDraftFailed, BenchmarkApproved,
    BenchmarkDeclined, RunPreflightRequested, RunPreflightRefused, PreflightCheckPassed, RunLocked,
    RunGenesisRequested, EpochOpened, EpochExecutionClosed, EpochSelectionRequested, EpochAbandoned,
    EpochClosed, LeaderboardPublished, SelectionClosed, RunPauseRequested, RunPaused, RunResumed,
    RunCompleted, RunCancelRequested, RunCancelled, RunFailed,
)  # fmt: skip


def writes(recorded: Recorded, read: Read) -> list[Write]:
    """What one event changes."""
    return _begun(recorded) or _epoch(recorded, read) or _ended(recorded)


def _begun(recorded: Recorded) -> list[Write]:
    match recorded.data:
        case RunRequested() as event:
            return [_run(recorded, event)]
        case BenchmarkDraftQueued(draft_no=draft_no):
            return [run_set(recorded, status="drafting", phase="drafting", draft_no=draft_no)]
        case BenchmarkDrafted(benchmark=ref, metric=metric, draft_no=draft_no):
            drafted = {"benchmark_sha": ref.sha256, "metric": metric, "draft_no": draft_no}
            return [run_set(recorded, status="awaiting_approval", phase="approval", **drafted)]
        case BenchmarkDraftFailed(reason=reason):
            return [run_set(recorded, phase="drafting", detail=reason)]
        case BenchmarkApproved(benchmark_sha=sha):
            return [run_set(recorded, status="approved", phase="approved", benchmark_sha=sha)]
        case BenchmarkDeclined(reason=reason):
            return [run_set(recorded, status="declined", phase="approval", detail=reason)]
        case RunPreflightRequested():
            return [run_set(recorded, status="preflight", phase="preflight", detail="")]
        case RunPreflightRefused(failed=failed):
            detail = "; ".join(f"{f.service}/{f.check}: {f.reason}" for f in failed)[:4000]
            return [run_set(recorded, status="refused", phase="preflight", detail=detail)]
        case PreflightCheckPassed(check="seed", resolved=found):
            return [run_set(recorded, seed_sha=found.get("seed_sha"))]
        case RunLocked(runtime_sha=sha):
            return [run_set(recorded, status="running", phase="locked", runtime_sha=sha)]
        case RunGenesisRequested():
            return [run_set(recorded, status="running", phase="genesis")]
        case _:
            return []


def _run(recorded: Recorded, event: RunRequested) -> Write:
    return upsert(
        "runs",
        ("run",),
        run=recorded.run,
        name=event.name,
        goal=event.goal,
        status="requested",
        phase="requested",
        epochs=event.epochs,
        population=event.population,
        strategy=event.strategy.name,
        seed=event.seed,
        last_seq=recorded.seq,
        requested_at=recorded.envelope.occurred_at,
    )


def _epoch(recorded: Recorded, read: Read) -> list[Write]:
    match recorded.data:
        case EpochOpened() as event:
            return _opened(recorded, event)
        case EpochExecutionClosed(epoch=epoch):
            return _moved(recorded, epoch, "grading")
        case LeaderboardPublished() as event:
            return _published(recorded, event, read)
        case EpochSelectionRequested(epoch=epoch):
            return _moved(recorded, epoch, "selection")
        case SelectionClosed(epoch=epoch):
            return _moved(recorded, epoch, "turnover")
        case EpochAbandoned(epoch=epoch, reason=reason):
            return [*_moved(recorded, epoch, "abandoned"), run_set(recorded, detail=reason)]
        case EpochClosed(epoch=epoch):
            key = {"run": recorded.run, "epoch": epoch}
            at = recorded.envelope.occurred_at
            return [update("epochs", key, status="closed", closed_at=at), run_set(recorded)]
        case _:
            return []


def _opened(recorded: Recorded, event: EpochOpened) -> list[Write]:
    opened = upsert(
        "epochs",
        ("run", "epoch"),
        run=recorded.run,
        epoch=event.epoch,
        attempt_try=event.attempt_try,
        status="execution",
        opened_at=recorded.envelope.occurred_at,
    )
    place = {"epoch": event.epoch, "attempt_try": event.attempt_try}
    return [opened, run_set(recorded, status="running", phase="execution", **place)]


def _moved(recorded: Recorded, epoch: int, phase: str) -> list[Write]:
    key = {"run": recorded.run, "epoch": epoch}
    return [update("epochs", key, status=phase), run_set(recorded, phase=phase)]


def _published(recorded: Recorded, event: LeaderboardPublished, read: Read) -> list[Write]:
    board = listed(read(event.rows), RankedRow)
    key = {"run": recorded.run, "epoch": event.epoch}
    gone = Write("delete from leaderboard where run = $1 and epoch = $2", tuple(key.values()))
    lines = [
        upsert("leaderboard", ("run", "epoch", "agent"), **key, **vars(line)) for line in board
    ]
    counts = {"successes": event.successes, "failures": event.failures}
    summary = update("epochs", key, status="graded", **counts, **_summary(board))
    best = {"champion_agent": board[0].agent, "champion_genome": board[0].genome} if board else {}
    score = {"champion_score": board[0].score} if board else {}
    return [gone, *lines, summary, run_set(recorded, phase="graded", **best, **score)]


def _summary(board: list[RankedRow]) -> dict[str, object]:
    """Best, median, and the worst of the top half (rounded up)."""
    scores: list[Decimal] = [line.score for line in board]
    if not scores:
        return {}
    middle = median(scores).quantize(Decimal("0.000001"))
    return {"best": scores[0], "median": middle, "worst_top_half": scores[(len(scores) - 1) // 2]}


def _ended(recorded: Recorded) -> list[Write]:
    at = recorded.envelope.occurred_at
    match recorded.data:
        case RunPauseRequested(reason=reason):
            return [run_set(recorded, status="pausing", detail=reason)]
        case RunPaused(cause=cause, detail=detail, phase=phase):
            paused = {"pause_cause": cause, "detail": detail, "phase": phase}
            return [run_set(recorded, status="paused", **paused)]
        case RunResumed():
            return [run_set(recorded, status="running", pause_cause=None, detail="")]
        case RunCompleted(champion=best):
            champion = {"champion_agent": best.agent, "champion_genome": best.genome}
            done = {"status": "completed", "phase": "completed", "finished_at": at}
            return [run_set(recorded, **done, **champion, champion_score=best.score)]
        case RunCancelRequested(reason=reason):
            return [run_set(recorded, status="cancelling", detail=reason)]
        case RunCancelled():
            return [run_set(recorded, status="cancelled", phase="cancelled", finished_at=at)]
        case RunFailed(reason=reason, detail=detail):
            text = f"{reason}: {detail}".removesuffix(": ")
            done = {"status": "failed", "phase": "failed", "finished_at": at}
            return [run_set(recorded, **done, detail=text)]
        case _:
            return []
