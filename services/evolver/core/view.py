"""What the evolver knows about a run."""

from collections.abc import Callable
from dataclasses import dataclass, field

from schemas import BlobRef, GenomeRef, Recorded
from schemas.canonical import listed
from schemas.events.agent import AgentArchived, AgentBorn, AgentGenomeActivated
from schemas.events.attempt import AttemptFinished
from schemas.events.birth import (
    BirthMutationDrafted,
    BirthMutationRejected,
    BirthRequested,
    BirthSettled,
)
from schemas.events.brief import (
    BriefDossierQueued,
    BriefDossierReviewed,
    BriefIssued,
    BriefRefused,
    BriefRequested,
)
from schemas.events.epoch import EpochOpened, EpochSelectionRequested
from schemas.events.genesis import (
    GenesisBatchFailed,
    GenesisBatchQueued,
    GenesisCompleted,
    GenesisVariantsDrafted,
)
from schemas.events.genome import GenomeCommitted, GenomeRejected
from schemas.events.leaderboard import LeaderboardPublished
from schemas.events.measurement import MeasurementRecorded
from schemas.events.reflection import (
    ReflectionProposed,
    ReflectionRequested,
    ReflectionSettled,
)
from schemas.events.run import (
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunGenesisRequested,
    RunLocked,
    RunRequested,
    RunResumed,
)
from schemas.events.score import ScoreComputed
from schemas.events.selection import (
    SelectionAbandoned,
    SelectionClosed,
    SelectionCohortsAssigned,
)
from schemas.ids import epoch_id, reflection_of
from schemas.values.benchmark import Benchmark
from schemas.values.population import CohortRow
from services.evolver.core.cohorts import Cohorts

HANDLES = (
    AgentArchived, AgentBorn, AgentGenomeActivated, AttemptFinished, BirthMutationDrafted,
    BirthMutationRejected, BirthRequested, BirthSettled, BriefDossierQueued,
    BriefDossierReviewed, BriefIssued, BriefRefused, BriefRequested, EpochOpened,
    EpochSelectionRequested, GenesisBatchFailed, GenesisBatchQueued, GenesisCompleted,
    GenesisVariantsDrafted, GenomeCommitted, GenomeRejected, LeaderboardPublished,
    MeasurementRecorded, ReflectionProposed, ReflectionRequested, ReflectionSettled, RunCancelled,
    RunCompleted, RunFailed, RunGenesisRequested, RunLocked, RunRequested, RunResumed,
    ScoreComputed, SelectionAbandoned, SelectionClosed, SelectionCohortsAssigned,
)  # fmt: skip


@dataclass
class Batch:
    """A batch of generation one's prompts."""

    queued: GenesisBatchQueued
    drafted: GenesisVariantsDrafted | None = None
    failed: GenesisBatchFailed | None = None


@dataclass
class Reflection:
    requested: ReflectionRequested
    proposed: ReflectionProposed | None = None
    finished: AttemptFinished | None = None
    settled: ReflectionSettled | None = None


@dataclass
class Birth:
    """`requests` is one per try; the last one is the open one."""

    requests: list[BirthRequested]
    drafted: BirthMutationDrafted | None = None
    settled: BirthSettled | None = None


@dataclass
class Selection:
    """The turnover that is being prepared; nothing of it touches the population yet."""

    epoch: int
    attempt_try: int
    cohorts: Cohorts | None = None
    dossiers: dict[int, BriefDossierQueued] = field(default_factory=dict)
    notes: dict[int, BriefDossierReviewed] = field(default_factory=dict)
    brief: BriefRequested | None = None
    refused: dict[str, BriefRefused] = field(default_factory=dict)
    issued: BriefIssued | None = None
    reflections: dict[str, Reflection] = field(default_factory=dict)
    births: dict[str, Birth] = field(default_factory=dict)
    abandoned: bool = False
    closed: bool = False
    retry: set[str] = field(default_factory=set)

    def answered(self, question: str) -> None:
        """It was asked again: neither its refusal nor a resume asks once more."""
        self.refused.pop(question, None)
        self.retry.discard(question)

    def unanswered(self) -> set[str]:
        """Questions to a model that nobody answered: parts, `brief`, births."""
        parts = {f"part-{n}" for n in self.dossiers if n not in self.notes}
        asked = {"brief"} if self.brief is not None and self.issued is None else set()
        births = {k for k, b in self.births.items() if b.drafted is None and b.settled is None}
        return parts | asked | births


class View:
    """One run; genomes are kept by id, scores and measurements of the current epoch only."""

    def __init__(self, run: str, read: Callable[[BlobRef], bytes]) -> None:
        self.run = run
        self.read = read
        self.request: RunRequested | None = None
        self.locked: RunLocked | None = None
        self.benchmark: Benchmark | None = None
        self.genesis: RunGenesisRequested | None = None
        self.batches: dict[int, Batch] = {}
        self.genesis_done = False
        self.population: dict[str, AgentBorn] = {}
        self.genome_of: dict[str, str] = {}
        self.last_agent = 0
        self.genomes: dict[str, GenomeRef] = {}
        self.prompts: dict[str, BlobRef] = {}
        self.committed: dict[str, GenomeCommitted] = {}
        self.rejected: dict[str, GenomeRejected] = {}
        self.epoch: EpochOpened | None = None
        self.states: dict[str, str] = {}
        self.scores: dict[str, ScoreComputed] = {}
        self.measured: dict[str, BlobRef] = {}
        self.board: LeaderboardPublished | None = None
        self.selection: Selection | None = None
        self.seq = 0
        self.terminal = False

    def selecting(self, about: str) -> Selection | None:
        """The turnover that `about` belongs to. After a restart old doorbells ring as well:
        those of an earlier epoch concern nobody any more."""
        selection = self.selection
        if selection is None or about.partition("-")[0] != epoch_id(selection.epoch):
            return None
        return selection

    def apply(self, recorded: Recorded) -> None:
        """Fold one event."""
        self.seq = recorded.seq
        entity, data, key = recorded.data.entity(), recorded.data, recorded.entity_id
        match entity:
            case "run":
                self._run(data)
            case "genesis" | "genome":
                self._genomes(data)
            case "agent":
                self._agent(data)
            case "selection" | "brief":
                self._select(data)
            case "reflection":
                self._reflect(key, data)
            case "birth":
                self._birth(key, data)
            case _:
                self._epoch(key, data)

    def _run(self, data: object) -> None:
        match data:
            case RunRequested():
                self.request = data
            case RunLocked():
                self.locked = data
                self.benchmark = Benchmark.model_validate_json(self.read(data.benchmark))
            case RunGenesisRequested():
                self.genesis = data
            case RunResumed():
                self._resumed()
            case RunCancelled() | RunCompleted() | RunFailed():
                self.terminal = True

    def _resumed(self) -> None:
        """What stopped the selection may be tried again."""
        if self.selection is not None and self.selection.abandoned:
            self.selection.abandoned = False
            self.selection.refused.clear()
            self.selection.retry = self.selection.unanswered()

    def _genomes(self, data: object) -> None:
        match data:
            case GenesisBatchQueued():
                self.batches[data.batch] = Batch(data)
            case GenesisVariantsDrafted():
                self.batches[data.batch].drafted = data
            case GenesisBatchFailed():
                self.batches[data.batch].failed = data
            case GenesisCompleted():
                self.genesis_done = True
            case GenomeCommitted():
                self.committed[data.proposal] = data
                self.genomes[data.genome.genome] = data.genome
                self.prompts[data.genome.genome] = data.prompt
            case GenomeRejected():
                self.rejected[data.proposal] = data

    def _agent(self, data: object) -> None:
        match data:
            case AgentBorn():
                self.population[data.agent] = data
                self.genome_of[data.agent] = data.genome
                self.last_agent = max(self.last_agent, int(data.agent[1:]))
            case AgentArchived():
                del self.population[data.agent]
            case AgentGenomeActivated():
                self.genome_of[data.agent] = data.genome

    def _select(self, data: object) -> None:
        selection = self.selection
        if selection is None:
            return
        match data:
            case SelectionCohortsAssigned():
                selection.cohorts = cohorts_of(self.read(data.cohorts))
            case SelectionAbandoned():
                selection.abandoned = True
            case SelectionClosed():
                selection.closed = True
            case BriefDossierQueued():
                selection.dossiers[data.part] = data
                selection.answered(f"part-{data.part}")
            case BriefDossierReviewed():
                selection.notes[data.part] = data
            case BriefRequested():
                selection.brief = data
                selection.answered("brief")
            case BriefRefused():
                key = f"part-{data.part}" if data.stage == "dossier" else "brief"
                selection.refused[key] = data
            case BriefIssued():
                selection.issued = data

    def _reflect(self, key: str, data: object) -> None:
        if self.selection is None:
            return
        if isinstance(data, ReflectionRequested):
            self.selection.reflections[key] = Reflection(data)
            return
        match data:
            case ReflectionProposed():
                self.selection.reflections[key].proposed = data
            case ReflectionSettled():
                self.selection.reflections[key].settled = data

    def _birth(self, key: str, data: object) -> None:
        if self.selection is None:
            return
        births = self.selection.births
        match data:
            case BirthRequested() if key in births:
                births[key].requests.append(data)
                births[key].drafted = None
                self.selection.retry.discard(key)
            case BirthRequested():
                births[key] = Birth([data])
            case BirthMutationDrafted():
                births[key].drafted = data
            case BirthSettled():
                births[key].settled = data

    def _epoch(self, key: str, data: object) -> None:
        match data:
            case EpochOpened():
                self.epoch, self.board, self.selection = data, None, None
                self.scores, self.measured, self.committed, self.rejected = {}, {}, {}, {}
            case AttemptFinished():
                self._finished(key, data)
            case ScoreComputed():
                self.scores[data.agent] = data
            case MeasurementRecorded():
                self.measured[data.agent] = data.response
            case LeaderboardPublished():
                self.board = data
            case EpochSelectionRequested():
                self.selection = Selection(data.epoch, data.attempt_try)

    def _finished(self, key: str, data: AttemptFinished) -> None:
        reflection = reflection_of(key)
        if reflection is not None and self.selection is not None:
            found = self.selection.reflections.get(reflection)
            if found is not None:
                found.finished = data
        elif data.state_out is not None:
            self.states[key.partition("-")[2]] = data.state_out.sha256


def cohorts_of(content: bytes) -> Cohorts:
    rows = listed(content, CohortRow)
    names = {c: tuple(r.agent for r in rows if r.cohort == c) for c in Cohorts._fields}
    return Cohorts(**names)
