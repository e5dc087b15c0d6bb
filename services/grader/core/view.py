"""What the grader knows about a run."""

from collections.abc import Callable
from dataclasses import dataclass, field

from schemas import BlobRef, Recorded
from schemas.canonical import listed
from schemas.events.attempt import AttemptFinished
from schemas.events.epoch import EpochAbandoned, EpochExecutionClosed, EpochOpened
from schemas.events.evidence import EvidenceFrozen
from schemas.events.grading import (
    GradingChunkQueued,
    GradingChunkReviewed,
    GradingFactsExtracted,
    GradingFactsRequested,
    GradingInterrupted,
    GradingOpened,
    GradingRefused,
)
from schemas.events.leaderboard import LeaderboardPublished
from schemas.events.measurement import (
    MeasurementFailed,
    MeasurementRecorded,
    MeasurementRequested,
)
from schemas.events.model_call import ModelCallRecorded
from schemas.events.run import (
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunLocked,
    RunPreflightRequested,
    RunResumed,
)
from schemas.events.score import ScoreComputed
from schemas.values.benchmark import Benchmark
from schemas.values.population import AttemptRow

HANDLES = (
    AttemptFinished, EpochAbandoned, EpochExecutionClosed, EpochOpened, EvidenceFrozen,
    GradingChunkQueued, GradingChunkReviewed, GradingFactsExtracted, GradingFactsRequested,
    GradingInterrupted, GradingOpened, GradingRefused, LeaderboardPublished, MeasurementFailed,
    MeasurementRecorded, MeasurementRequested, ModelCallRecorded, RunCancelled, RunCompleted,
    RunFailed, RunLocked, RunPreflightRequested, RunResumed, ScoreComputed,
)  # fmt: skip


FACTS = -1


@dataclass
class Judging:
    """How far the judgement of one attempt has come. `refused`: by chunk; `FACTS` for facts."""

    opened: GradingOpened
    requested: set[str] = field(default_factory=set)
    measured: dict[str, BlobRef] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    queued: dict[int, GradingChunkQueued] = field(default_factory=dict)
    reviewed: dict[int, GradingChunkReviewed] = field(default_factory=dict)
    refused: dict[int, GradingRefused] = field(default_factory=dict)
    facts_requested: GradingFactsRequested | None = None
    facts: GradingFactsExtracted | None = None
    interrupted: bool = False
    retry: bool = False
    scored: bool = False

    def resume(self) -> None:
        """What was interrupted is asked again; a refusal that ended it is no reason any more."""
        if self.interrupted:
            self.retry, self.interrupted = True, False
            self.refused.clear()


class View:
    """One run; only the current epoch is kept in memory."""

    def __init__(self, run: str, read: Callable[[BlobRef], bytes]) -> None:
        self.run = run
        self.read = read
        self.preflight: RunPreflightRequested | None = None
        self.locked: RunLocked | None = None
        self.benchmark: Benchmark | None = None
        self.epoch: EpochOpened | None = None
        self.closed: EpochExecutionClosed | None = None
        self.rows: dict[str, AttemptRow] = {}
        self.evidence: dict[str, EvidenceFrozen] = {}
        self.finished: dict[str, AttemptFinished] = {}
        self.tokens: dict[str, int] = {}
        self.calls: dict[str, int] = {}
        self.judging: dict[str, Judging] = {}
        self.scores: dict[str, ScoreComputed] = {}
        self.published = False
        self.terminal = False

    def apply(self, recorded: Recorded) -> None:
        """Fold one event."""
        data = recorded.data
        if data.entity() == "grading":
            self._grading(recorded.entity_id, data)
        elif data.entity() == "measurement":
            self._measurement(data)
        else:
            self._facts(recorded.entity_id, data)

    def _facts(self, key: str, data: object) -> None:
        match data:
            case AttemptFinished():
                self.finished[key] = data
            case EvidenceFrozen():
                self.evidence[data.attempt] = data
            case ModelCallRecorded() if data.caller.attempt:
                attempt = data.caller.attempt
                used = data.usage.prompt + data.usage.completion
                self.tokens[attempt] = self.tokens.get(attempt, 0) + used
                self.calls[attempt] = self.calls.get(attempt, 0) + 1
            case EpochOpened():
                self._open(data)
            case EpochExecutionClosed():
                self.closed = data
                rows = listed(self.read(data.attempts), AttemptRow)
                self.rows = {row.attempt: row for row in rows}
            case ScoreComputed():
                self.scores[data.attempt] = data
                if data.attempt in self.judging:
                    self.judging[data.attempt].scored = True
            case LeaderboardPublished():
                self.published = True
            case RunPreflightRequested():
                self.preflight = data
            case RunLocked():
                self.locked = data
                self.benchmark = Benchmark.model_validate_json(self.read(data.benchmark))
            case RunResumed():
                for judging in self.judging.values():
                    judging.resume()
            case RunCancelled() | RunCompleted() | RunFailed():
                self.terminal = True

    def _open(self, data: EpochOpened) -> None:
        """A new epoch, or a new try of one: nothing of the last is needed again."""
        self.epoch, self.closed, self.published = data, None, False
        for kept in (
            self.rows, self.evidence, self.finished, self.tokens, self.calls, self.judging,
            self.scores,
        ):  # fmt: skip
            kept.clear()

    def _grading(self, attempt: str, data: object) -> None:
        if isinstance(data, GradingOpened):
            self.judging[attempt] = Judging(data)
            return
        judging = self.judging.get(attempt)
        if judging is None:
            return
        match data:
            case GradingChunkQueued():
                judging.queued[data.chunk] = data
                judging.refused.pop(data.chunk, None)
                judging.retry = False
            case GradingChunkReviewed():
                judging.reviewed[data.chunk] = data
            case GradingRefused():
                judging.refused[FACTS if data.stage == "facts" else data.chunk] = data
            case GradingFactsRequested():
                judging.facts_requested = data
                judging.refused.pop(FACTS, None)
                judging.retry = False
            case GradingFactsExtracted():
                judging.facts = data
            case GradingInterrupted():
                judging.interrupted = True

    def _measurement(self, data: object) -> None:
        assert isinstance(data, (MeasurementRequested, MeasurementRecorded, MeasurementFailed))
        judging = self.judging.get(data.attempt)
        if judging is None:
            return
        match data:
            case MeasurementRequested():
                judging.requested.add(data.program)
            case MeasurementRecorded():
                judging.measured[data.program] = data.response
            case MeasurementFailed():
                judging.failed[data.program] = data.reason
