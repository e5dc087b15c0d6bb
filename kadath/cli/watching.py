"""Follows a run through its events and tells what happens."""

import json
from collections.abc import Callable
from decimal import Decimal

from kadath.cli.client import Session
from kadath.cli.render import EpochRow, summarise
from schemas import Recorded, ids, subjects
from schemas.events.benchmark import BenchmarkDrafted
from schemas.events.leaderboard import LeaderboardPublished
from schemas.events.run import RunCancelled, RunCompleted, RunFailed, RunPaused, RunResumed

Told = Callable[[Recorded], None]
ENDS = (RunCompleted, RunFailed, RunCancelled)


class Outcome:
    """What a watcher has seen: one row an epoch and how the run stands."""

    def __init__(self) -> None:
        self.rows: list[EpochRow] = []
        self.boards: list[str] = []
        self.completed: RunCompleted | None = None
        self.failed: RunFailed | None = None
        self.paused: RunPaused | None = None
        self.cancelled = False
        self.drafted: BenchmarkDrafted | None = None


async def watch(session: Session, run: str, told: Told | None = None) -> Outcome:
    """Until the run ends or pauses; a pause that was resumed long ago is history."""
    outcome, resumed = Outcome(), await _last_resume(session, run)

    def until(recorded: Recorded) -> bool:
        paused = isinstance(recorded.data, RunPaused) and recorded.seq > resumed
        return paused or isinstance(recorded.data, ENDS)

    async for recorded in session.events(subjects.of_run(run), until):
        _note(session, outcome, recorded)
        if told is not None:
            told(recorded)
    return outcome


async def _last_resume(session: Session, run: str) -> int:
    """The sequence of the newest resume, 0 without one."""
    resumes = subjects.event(run, ids.MAIN, RunResumed.type)
    found = [r.seq async for r in session.events(resumes, lambda r: False, follow=False)]
    return found[-1] if found else 0


def _note(session: Session, outcome: Outcome, recorded: Recorded) -> None:
    match recorded.data:
        case LeaderboardPublished() as board:
            rows = json.loads(session.blobs.get(board.rows))
            scores = [Decimal(row["score"]) for row in rows]
            outcome.rows.append(summarise(board.epoch, scores, board.successes, board.failures))
            outcome.boards.append(board.rows.sha256)
        case RunCompleted() as completed:
            outcome.completed = completed
        case RunFailed() as failed:
            outcome.failed = failed
        case RunPaused() as paused:
            outcome.paused = paused
        case RunResumed():
            outcome.paused = None
        case RunCancelled():
            outcome.cancelled = True
        case BenchmarkDrafted() as drafted:
            outcome.drafted = drafted
