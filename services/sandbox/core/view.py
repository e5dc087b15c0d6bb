"""What the sandbox knows about a run."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from schemas import BlobRef, Recorded
from schemas.events.attempt import (
    INFRASTRUCTURE,
    AttemptCrashed,
    AttemptFinished,
    AttemptHeld,
    AttemptQueued,
    AttemptRestarted,
    AttemptStarted,
)
from schemas.events.epoch import EpochAbandoned, EpochOpened
from schemas.events.evidence import EvidenceFrozen, EvidenceUnavailable
from schemas.events.genome import GenomeCommitted, GenomeStaged
from schemas.events.measurement import MeasurementRequested
from schemas.events.model_call import ModelCallFailed, ModelCallRecorded
from schemas.events.reflection import ReflectionRequested
from schemas.events.run import (
    RunCancelled,
    RunCancelRequested,
    RunCompleted,
    RunFailed,
    RunLocked,
    RunPaused,
    RunPauseRequested,
    RunPreflightRequested,
    RunRequested,
    RunResumed,
)
from schemas.values.benchmark import Benchmark
from services.sandbox.core.outage import Outage

HANDLES = (
    AttemptCrashed, AttemptFinished, AttemptHeld, AttemptQueued, AttemptRestarted, AttemptStarted,
    ModelCallRecorded, ModelCallFailed, EpochAbandoned, EpochOpened, EvidenceFrozen,
    EvidenceUnavailable, GenomeCommitted, GenomeStaged, MeasurementRequested, ReflectionRequested,
    RunCancelled, RunCancelRequested, RunCompleted, RunFailed, RunLocked, RunPaused,
    RunPauseRequested, RunPreflightRequested, RunRequested, RunResumed,
)  # fmt: skip


@dataclass
class Attempt:
    """One attempt. `restart` counts starts after the first; `crashes` only the agent's own.

    `faults` counts those of the infrastructure since the last resume, without lost leases.
    """

    queued: AttemptQueued
    started: AttemptStarted | None = None
    restart: int = 0
    crashes: int = 0
    faults: int = 0
    held: bool = False
    finished: AttemptFinished | None = None
    first_started_at: datetime | None = None
    sealed: bool = False


class View:
    """Finished attempts of closed epochs are dropped; genomes are kept by id."""

    def __init__(self, run: str, read: Callable[[BlobRef], bytes]) -> None:
        self.run = run
        self.read = read
        self.request: RunRequested | None = None
        self.preflight: RunPreflightRequested | None = None
        self.locked: RunLocked | None = None
        self.benchmark: Benchmark | None = None
        self.epoch: EpochOpened | None = None
        self.attempts: dict[str, Attempt] = {}
        self.outage = Outage()
        self.genomes: dict[str, str] = {}
        self.staged: dict[str, GenomeStaged] = {}
        self.measurements: dict[str, MeasurementRequested] = {}
        self.reflections: dict[str, ReflectionRequested] = {}
        self.stopping = False
        self.terminal = False

    def apply(self, recorded: Recorded) -> None:
        """Fold one event."""
        data, key = recorded.data, recorded.entity_id
        if data.entity() == "attempt":
            self._attempt(key, data)
        elif data.entity() == "run":
            self._run(data)
        elif data.entity() == "model_call":
            self.outage.apply(recorded)
        else:
            self._request(key, data)

    def _attempt(self, key: str, data: object) -> None:
        if isinstance(data, AttemptQueued):
            self.attempts[key] = Attempt(data)
            return
        attempt = self.attempts.get(key)
        if attempt is None:
            return
        match data:
            case AttemptStarted():
                attempt.started, attempt.restart = data, data.restart
                attempt.first_started_at = attempt.first_started_at or data.started_at
                self.outage.start(key)
            case AttemptCrashed() if data.reason in INFRASTRUCTURE:
                attempt.started = attempt.first_started_at = None
                attempt.faults += data.reason != "lease_lost"
            case AttemptCrashed():
                attempt.started = None
                attempt.crashes += 1
            case AttemptHeld():
                attempt.held = True
            case AttemptRestarted():
                attempt.restart, attempt.held = data.restart, False
            case AttemptFinished():
                attempt.finished = data

    def _request(self, key: str, data: object) -> None:
        match data:
            case EpochOpened():
                self.epoch = data
                self.attempts = {k: a for k, a in self.attempts.items() if not a.finished}
                self.outage.keep(set(self.attempts))
                self.measurements.clear()
                self.reflections.clear()
                self.staged.clear()
            case EvidenceFrozen() | EvidenceUnavailable() if key in self.attempts:
                self.attempts[key].sealed = True
            case GenomeCommitted():
                self.genomes[data.genome.genome] = data.genome.files.sha256
            case GenomeStaged():
                self.staged[data.proposal] = data
            case MeasurementRequested():
                self.measurements[key] = data
            case ReflectionRequested():
                self.reflections[key] = data

    def _run(self, data: object) -> None:
        match data:
            case RunRequested():
                self.request = data
            case RunPreflightRequested():
                self.preflight = data
                self.benchmark = Benchmark.model_validate_json(self.read(data.benchmark))
            case RunLocked():
                self.locked = data
            case RunCancelRequested():
                self.stopping = True
            case RunPauseRequested() if data.mode == "now":
                self.stopping = True
            case RunResumed():
                self.stopping = False
                for attempt in self.attempts.values():
                    attempt.faults = 0
            case RunCancelled() | RunCompleted() | RunFailed():
                self.terminal = True
