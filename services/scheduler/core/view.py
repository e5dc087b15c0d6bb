"""What the scheduler knows about a run: a fold of everybody's facts, read-only to decisions."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from schemas import BlobRef, Recorded
from schemas.canonical import listed
from schemas.events.agent import AgentArchived, AgentBorn, AgentGenomeActivated
from schemas.events.attempt import (
    AttemptCrashed,
    AttemptFinished,
    AttemptHeld,
    AttemptQueued,
    AttemptStarted,
)
from schemas.events.benchmark import (
    BenchmarkApproved,
    BenchmarkDeclined,
    BenchmarkDrafted,
    BenchmarkDraftFailed,
)
from schemas.events.budget import BudgetExhausted
from schemas.events.epoch import (
    EpochAbandoned,
    EpochClosed,
    EpochExecutionClosed,
    EpochOpened,
    EpochSelectionRequested,
)
from schemas.events.evidence import EvidenceFrozen, EvidenceUnavailable
from schemas.events.genesis import GenesisBatchFailed, GenesisCompleted
from schemas.events.grading import GradingInterrupted
from schemas.events.leaderboard import LeaderboardPublished
from schemas.events.preflight import PreflightCheckFailed, PreflightCheckPassed
from schemas.events.run import (
    FailedCheck,
    PauseCause,
    PauseMode,
    RunCancelled,
    RunCancelRequested,
    RunCompleted,
    RunFailed,
    RunLocked,
    RunPaused,
    RunPauseRequested,
    RunPreflightRefused,
    RunPreflightRequested,
    RunRequested,
    RunResumed,
)
from schemas.events.selection import SelectionAbandoned, SelectionClosed
from schemas.ids import attempt_id
from schemas.values.population import AttemptRow, Member


class PauseWish(NamedTuple):
    """Somebody or something wants the run to stop at the next boundary."""

    mode: PauseMode
    cause: PauseCause
    reason: str


@dataclass
class EpochView:
    """The current epoch. `rows` has one entry per settled attempt."""

    number: int
    attempt_try: int
    attempt_seconds: int
    attempts: dict[str, str]
    rows: dict[str, AttemptRow] = field(default_factory=dict)
    outcomes: dict[str, AttemptFinished] = field(default_factory=dict)
    execution_closed: bool = False
    leaderboard: LeaderboardPublished | None = None
    selection_requested: bool = False
    selection_closed: bool = False
    closed: bool = False
    abandoned: bool = False


class View:
    """One run. `read` returns the bytes of a blob: content-addressed, so always the same."""

    def __init__(self, run: str, read: Callable[[BlobRef], bytes]) -> None:
        self.run = run
        self.read = read
        self.request: RunRequested | None = None
        self.drafted: BenchmarkDrafted | None = None
        self.approved: BenchmarkApproved | None = None
        self.draft_failed: BenchmarkDraftFailed | None = None
        self.preflight: RunPreflightRequested | None = None
        self.passed: dict[tuple[str, str], PreflightCheckPassed] = {}
        self.failed: dict[tuple[str, str], FailedCheck] = {}
        self.locked: RunLocked | None = None
        self.genesis_done = False
        self.population: dict[str, Member] = {}
        self.epoch: EpochView | None = None
        self.live: set[str] = set()
        self.wish: PauseWish | None = None
        self.trouble: PauseWish | None = None
        self.paused: RunPaused | None = None
        self.cancel: RunCancelRequested | None = None
        self.terminal = False
        self.last_attempt_event: datetime | None = None

    def apply(self, recorded: Recorded) -> None:
        """Fold one event."""
        data = recorded.data
        if isinstance(data, (AttemptQueued, AttemptStarted, AttemptCrashed, AttemptFinished)):
            self._attempt(recorded)
        elif isinstance(data, (EvidenceFrozen, EvidenceUnavailable)):
            self._evidence(data)
        elif isinstance(data, (AgentBorn, AgentArchived, AgentGenomeActivated)):
            self._agent(data)
        elif data.entity() == "epoch":
            self._epoch(recorded)
        elif data.entity() in ("run", "preflight"):
            self._run(recorded)
        else:
            self._others(data)

    def _attempt(self, recorded: Recorded) -> None:
        data, attempt = recorded.data, recorded.entity_id
        self.last_attempt_event = recorded.envelope.occurred_at
        if isinstance(data, AttemptQueued):
            self.live.add(attempt)
        if isinstance(data, AttemptFinished):
            self.live.discard(attempt)
            if self.epoch and attempt in self.epoch.attempts:
                self.epoch.outcomes[attempt] = data

    def _evidence(self, data: EvidenceFrozen | EvidenceUnavailable) -> None:
        epoch = self.epoch
        if epoch is None or data.attempt not in epoch.attempts:
            return
        finished = epoch.outcomes.get(data.attempt)
        evidence = data.manifest.sha256 if isinstance(data, EvidenceFrozen) else None
        outcome = finished.outcome if finished else "failed"
        epoch.rows[data.attempt] = AttemptRow(
            agent=data.agent, attempt=data.attempt, outcome=outcome, evidence=evidence
        )

    def _agent(self, data: AgentBorn | AgentArchived | AgentGenomeActivated) -> None:
        match data:
            case AgentBorn():
                member = Member(agent=data.agent, genome=data.genome, state=data.state)
                self.population[data.agent] = member
            case AgentArchived():
                self.population.pop(data.agent, None)
            case AgentGenomeActivated():
                old = self.population[data.agent]
                self.population[data.agent] = old.model_copy(update={"genome": data.genome})

    def _epoch(self, recorded: Recorded) -> None:
        data = recorded.data
        match data:
            case EpochOpened():
                self.last_attempt_event = recorded.envelope.occurred_at
                members = listed(self.read(data.agents), Member)
                attempts = {
                    attempt_id(data.epoch, data.attempt_try, m.agent): m.agent for m in members
                }
                self.epoch = EpochView(data.epoch, data.attempt_try, data.attempt_seconds, attempts)
            case EpochExecutionClosed() if self.epoch:
                self.epoch.execution_closed = True
                self._keep_states(self.epoch)
            case EpochSelectionRequested() if self.epoch:
                self.epoch.selection_requested = True
            case EpochClosed() if self.epoch:
                self.epoch.closed = True
            case EpochAbandoned() if self.epoch:
                self.epoch.abandoned = True

    def _keep_states(self, epoch: EpochView) -> None:
        """Only an epoch that was not abandoned changes what the next one starts from."""
        for attempt, finished in epoch.outcomes.items():
            agent = epoch.attempts[attempt]
            if finished.state_out and agent in self.population:
                state = {"state": finished.state_out.sha256}
                self.population[agent] = self.population[agent].model_copy(update=state)

    def _run(self, recorded: Recorded) -> None:
        data, key = recorded.data, recorded.entity_id
        match data:
            case RunRequested():
                self.request = data
            case RunPreflightRequested():
                self.preflight, self.passed, self.failed = data, {}, {}
            case PreflightCheckPassed():
                self.passed[key, data.check] = data
            case PreflightCheckFailed():
                failed = FailedCheck(service=key, check=data.check, reason=data.reason)
                self.failed[key, data.check] = failed
            case RunPreflightRefused():
                self.preflight, self.approved = None, None
            case RunLocked():
                self.locked = data
            case RunPauseRequested():
                self.wish = PauseWish(data.mode, "operator", data.reason)
            case RunPaused():
                self.paused, self.wish, self.trouble = data, None, None
            case RunResumed():
                self.paused, self.wish, self.trouble = None, None, None
                # Silence during a pause is no sign of trouble: it is counted anew.
                self.last_attempt_event = recorded.envelope.occurred_at
            case RunCancelRequested():
                self.cancel = data
            case RunCompleted() | RunCancelled() | RunFailed():
                self.terminal = True

    def _others(self, data: object) -> None:
        match data:
            case BenchmarkDrafted():
                self.drafted, self.approved = data, None
            case BenchmarkApproved():
                self.approved = data
            case BenchmarkDeclined():
                self.approved = None
            case BenchmarkDraftFailed():
                self.draft_failed = data
            case GenesisCompleted():
                self.genesis_done = True
            case GenesisBatchFailed() if not data.retryable:
                self.trouble = PauseWish("now", "provider", data.reason)
            case LeaderboardPublished() if self.epoch and data.epoch == self.epoch.number:
                self.epoch.leaderboard = data
            case SelectionClosed() if self.epoch and data.epoch == self.epoch.number:
                self.epoch.selection_closed = True
            case SelectionAbandoned():
                self.trouble = PauseWish("now", "selection", data.reason)
            case AttemptHeld():
                cause: PauseCause = "provider" if data.reason == "provider" else "sandbox"
                self.trouble = PauseWish("now", cause, data.detail)
            case GradingInterrupted():
                self.trouble = PauseWish("now", "grading_interrupted", data.reason)
            case BudgetExhausted():
                self.wish = PauseWish("epoch", "budget", f"{data.limit} of {data.scope} used up")


HANDLES = (
    RunRequested, RunPreflightRequested, RunPreflightRefused, RunLocked, RunPauseRequested,
    RunPaused, RunResumed, RunCancelRequested, RunCompleted, RunCancelled, RunFailed,
    PreflightCheckPassed, PreflightCheckFailed, BenchmarkDrafted, BenchmarkApproved,
    BenchmarkDeclined, BenchmarkDraftFailed, GenesisCompleted, GenesisBatchFailed, AgentBorn,
    AgentArchived, AgentGenomeActivated, EpochOpened, EpochExecutionClosed,
    EpochSelectionRequested, EpochClosed, EpochAbandoned, AttemptQueued, AttemptStarted,
    AttemptCrashed, AttemptFinished, AttemptHeld, EvidenceFrozen, EvidenceUnavailable,
    GradingInterrupted, LeaderboardPublished, SelectionClosed, SelectionAbandoned, BudgetExhausted,
)  # fmt: skip
