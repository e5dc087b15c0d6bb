"""What the broker knows about a run: grants, spending, the journal, who remembers what."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from schemas import BlobRef, Recorded
from schemas.canonical import listed
from schemas.events.agent import AgentBorn
from schemas.events.attempt import INFRASTRUCTURE, AttemptCrashed, AttemptFinished
from schemas.events.budget import BudgetExhausted, BudgetReserved, BudgetSettled
from schemas.events.egress import EgressAnswered, EgressRefused
from schemas.events.epoch import EpochExecutionClosed, EpochOpened
from schemas.events.grant import GrantIssued
from schemas.events.memory import MemoryPublished, MemoryRated
from schemas.events.model_call import ModelCallFailed, ModelCallRecorded
from schemas.events.preflight import PreflightCheckFailed, PreflightCheckPassed
from schemas.events.run import (
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunLocked,
    RunPaused,
    RunPreflightRequested,
    RunRequested,
    RunResumed,
)
from schemas.events.selection import SelectionCohortsAssigned
from schemas.values.benchmark import Benchmark
from schemas.values.population import CohortRow
from schemas.values.runtime import Budget
from services.broker.core import trust
from services.broker.core.journal import Answered
from services.broker.core.lineage import Ancestry

HANDLES = (
    RunRequested, RunLocked, RunPaused, RunResumed, RunCompleted, RunCancelled, RunFailed,
    RunPreflightRequested, PreflightCheckPassed, PreflightCheckFailed, GrantIssued,
    BudgetReserved, BudgetSettled, BudgetExhausted, ModelCallRecorded, ModelCallFailed,
    MemoryPublished, MemoryRated, AgentBorn, AttemptCrashed, AttemptFinished,
    SelectionCohortsAssigned, EpochOpened, EpochExecutionClosed, EgressAnswered, EgressRefused,
)  # fmt: skip


class Block(NamedTuple):
    tokens: int
    calls: int


@dataclass(frozen=True)
class Grant:
    grant: str
    attempt: str
    agent: str
    genome: str
    scopes: tuple[str, ...]
    epoch: int | None


@dataclass
class Spent:
    """`usd` sums the calls that had a price; `unpriced`: some answer had none."""

    tokens: int = 0
    calls: int = 0
    usd: Decimal = Decimal(0)
    priced: bool = False
    unpriced: bool = False

    def add(self, tokens: int, usd: Decimal | None) -> None:
        self.calls += 1
        self.tokens += tokens
        if usd is not None:
            self.usd += usd
            self.priced = True
        elif tokens:
            self.unpriced = True


class Memory(NamedTuple):
    """A record's owner and who may see it; its text is read from the projection."""

    agent: str
    population: bool
    seq: int


class View:
    """The fold of one run. Decisions read it and change nothing."""

    def __init__(self, run: str, read: Callable[[BlobRef], bytes]) -> None:
        self.run = run
        self._read = read
        self.request: RunRequested | None = None
        self.ended = False
        self._locked_at: datetime | None = None
        self._paused_at: datetime | None = None
        self._paused_seconds = 0.0
        self.preflight_seq = 0
        self.preflights = 0
        self.preflight_answered = 0
        self.grants: dict[str, Grant] = {}
        self.grants_of: dict[str, list[str]] = defaultdict(list)
        self.open_blocks: dict[str, Block] = {}
        self.spent = Spent()
        self._used: dict[str, Spent] = defaultdict(Spent)
        self.exhausted: set[str] = set()
        self.journal: dict[str, Answered] = {}
        self.tape: dict[str, Answered] = {}
        self.tools: tuple[str, ...] = ()
        self.web: dict[str, EgressAnswered | EgressRefused] = {}
        self.web_calls: dict[str, int] = defaultdict(int)
        self.failures: dict[str, int] = {}
        self.crashes: dict[str, int] = defaultdict(int)
        self.finished: set[str] = set()
        self.ancestry = Ancestry()
        self.memories: dict[str, Memory] = {}
        self.memory_seq = 0
        # Others' records count from the last barrier on: order-free within an epoch.
        self.horizon = 0
        self.published: dict[str, int] = defaultdict(int)
        self.ratings: dict[tuple[str, str], int] = {}
        self.trust = trust.Trust()

    @property
    def caps(self) -> Budget:
        return self.request.budget if self.request else Budget()

    def used_by(self, grant: str) -> Spent:
        return self._used.get(grant, Spent())

    def left_of(self, grant: str | None) -> Block:
        """What remains of an open block."""
        if grant is None or grant not in self.open_blocks:
            return Block(0, 0)
        block, used = self.open_blocks[grant], self.used_by(grant)
        return Block(max(block.tokens - used.tokens, 0), max(block.calls - used.calls, 0))

    def wall_seconds(self, now: datetime) -> float:
        """Seconds since the lock without the pauses."""
        if self._locked_at is None:
            return 0.0
        end = self._paused_at or now
        return max((end - self._locked_at).total_seconds() - self._paused_seconds, 0.0)

    def apply(self, recorded: Recorded) -> None:
        """Fold one event."""
        match recorded.data:
            case ModelCallRecorded() as data:
                self._recorded(data)
            case ModelCallFailed() as data:
                self.failures[data.call] = max(self.failures.get(data.call, 0), data.attempt_no)
                if data.kind not in ("budget", "refused"):
                    self._spend(data.caller.attempt, 0, data.cost)
            case EpochOpened() | EpochExecutionClosed():
                self.horizon = recorded.seq
            case MemoryPublished() as data:
                self._published(recorded, data)
            case MemoryRated() as data:
                self.memory_seq = recorded.seq
                self.ratings[data.record, data.rater] = data.value
            case GrantIssued() | BudgetReserved() | BudgetSettled() | BudgetExhausted():
                self._granted(recorded)
            case AttemptCrashed() as data if data.reason not in INFRASTRUCTURE:
                self.crashes[recorded.entity_id] += 1
            case EgressAnswered() | EgressRefused() as data:
                self.web_calls[data.attempt] += 1
                if data.tape_key:
                    self.web.setdefault(data.tape_key, data)
            case AttemptFinished():
                self.finished.add(recorded.entity_id)
            case AgentBorn() as data:
                self.ancestry.born(data, recorded.seq)
            case SelectionCohortsAssigned() as data:
                self.trust.assign(data.epoch, listed(self._read(data.cohorts), CohortRow))
            case _:
                self._of_run(recorded)

    def _recorded(self, data: ModelCallRecorded) -> None:
        answered = Answered(data.call, data.response)
        self.journal[data.key] = answered
        self.tape.setdefault(data.tape_key, answered)
        self._spend(data.caller.attempt, data.usage.prompt + data.usage.completion, data.usage.cost)

    def _spend(self, attempt: str | None, tokens: int, usd: Decimal | None) -> None:
        self.spent.add(tokens, usd)
        grants = self.grants_of.get(attempt or "")
        if grants:
            self._used[grants[-1]].add(tokens, usd)

    def _granted(self, recorded: Recorded) -> None:
        match recorded.data:
            case GrantIssued() as data:
                self.grants[data.grant] = Grant(
                    data.grant, data.attempt, data.agent, data.genome, data.scopes,
                    recorded.envelope.epoch,
                )  # fmt: skip
                self.grants_of[data.attempt].append(data.grant)
            case BudgetReserved() as data:
                self.open_blocks[data.grant] = Block(data.tokens, data.calls)
            case BudgetSettled() as data:
                self.open_blocks.pop(data.grant, None)
            case BudgetExhausted() as data:
                self.exhausted.add(data.limit)

    def _published(self, recorded: Recorded, data: MemoryPublished) -> None:
        population = data.visibility == "population"
        self.memories[data.record] = Memory(data.agent, population, recorded.seq)
        self.memory_seq = recorded.seq
        if data.attempt:
            self.published[data.attempt] += 1

    def _of_run(self, recorded: Recorded) -> None:
        at = recorded.envelope.occurred_at
        match recorded.data:
            case RunRequested() as data:
                self.request = data
            case RunLocked():
                self._locked_at = self._locked_at or at
            case RunPaused():
                self._paused_at = self._paused_at or at
            case RunResumed() if self._paused_at:
                if self._locked_at:
                    since = max(self._paused_at, self._locked_at)
                    self._paused_seconds += (at - since).total_seconds()
                self._paused_at = None
            case RunCompleted() | RunCancelled() | RunFailed():
                self.ended = True
            case RunPreflightRequested() as data:
                self.tools = _tools(self._read(data.benchmark))
                if any(r.service == "broker" and r.check == "models" for r in data.required):
                    self.preflight_seq = recorded.seq
                    self.preflights += 1
            case PreflightCheckPassed() | PreflightCheckFailed():
                if recorded.entity_id == "broker":
                    self.preflight_answered = recorded.seq


def _tools(benchmark: bytes) -> tuple[str, ...]:
    return Benchmark.model_validate_json(benchmark).tools
