"""The run as a whole. Owner: scheduler. Id: `main`."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from schemas.base import Event, Value
from schemas.refs import BlobRef, SecretRef, Sha256, TreeRef
from schemas.values.capability import Capability, HostPattern
from schemas.values.runtime import Budget, Limits, Models, Runtime

PauseMode = Literal["execution", "grading", "epoch", "now"]
PauseCause = Literal[
    "operator", "grading_interrupted", "selection", "provider", "budget", "sandbox", "disk", "lock"
]


class Strategy(Value):
    """How the next generation is made. `random` writes whole new programs: the control."""

    name: Literal["default", "random"] = "default"
    births: bool = Field(default=True, description="false: nothing is born, mutated or culled")


class RunRequested(Event):
    type = "run.requested"
    name: str
    goal: Annotated[str, Field(min_length=1, max_length=8000)]
    criterion_hint: Annotated[str, Field(max_length=8000)] = ""
    epochs: Annotated[int, Field(ge=1, le=1000)]
    population: Annotated[int, Field(ge=4, le=1000)]
    epoch_seconds: Annotated[int, Field(ge=1, le=7 * 86400)]
    executor: Literal["local", "docker"] = "local"
    limits: Limits = Limits()
    capabilities: Annotated[
        tuple[Capability, ...], Field(description="what the Architect may approve at most")
    ] = ()
    hosts: Annotated[
        tuple[HostPattern, ...], Field(description="web_fetch reaches nothing else; empty: any")
    ] = ()
    env: dict[str, str] = Field(default_factory=dict, description="plain values; locked")
    secrets: tuple[SecretRef, ...] = ()
    models: Models
    budget: Budget = Budget()
    strategy: Strategy = Strategy()
    starter: TreeRef | None = Field(default=None, description="files laid over the seed genome")
    benchmark: BlobRef | None = Field(default=None, description="a user's own; else drafted")
    approve: Literal["operator", "automatic"] = "operator"
    seed: int = 0


class RequiredCheck(Value):
    service: str
    check: str


class RunPreflightRequested(Event):
    type = "run.preflight_requested"
    benchmark: BlobRef
    required: tuple[RequiredCheck, ...]


class FailedCheck(Value):
    service: str
    check: str
    reason: str


class RunPreflightRefused(Event):
    type = "run.preflight_refused"
    failed: tuple[FailedCheck, ...]


class RunLocked(Event):
    """Everything that must not change from here on. `chain` is the log's hash up to this."""

    type = "run.locked"
    objective_sha: Sha256
    benchmark: BlobRef
    tool_manifest: BlobRef
    runtime: Runtime
    runtime_sha: Sha256
    formula_version: str
    locks_sha: Sha256


class RunGenesisRequested(Event):
    type = "run.genesis_requested"
    slots: int
    starter: TreeRef | None = None
    instructions: str


class RunLockViolated(Event):
    type = "run.lock_violated"
    lock: str
    expected_sha: str
    actual_sha: str
    noticed_before: str


class RunPauseRequested(Event):
    type = "run.pause_requested"
    mode: PauseMode
    reason: str = ""


class RunPaused(Event):
    type = "run.paused"
    cause: PauseCause
    phase: str
    epoch: int | None = None
    detail: str = ""


class RunResumed(Event):
    type = "run.resumed"
    reason: str = ""


class Champion(Value):
    agent: str
    genome: Sha256
    score: Decimal


class RunCompleted(Event):
    type = "run.completed"
    epochs_run: int
    champion: Champion
    leaderboard_sha: Sha256


class RunCancelRequested(Event):
    type = "run.cancel_requested"
    reason: str = ""


class RunCancelled(Event):
    type = "run.cancelled"
    epoch: int | None = None


class RunFailed(Event):
    type = "run.failed"
    reason: Literal["draft", "no_success", "no_runtime"]
    epoch: int | None = None
    detail: str = ""
