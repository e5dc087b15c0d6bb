"""What lineage knows about one run: its chain, its genomes, and the proposals on their way."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from schemas import CATALOGUE, BlobRef, Event, GenomeRef, Recorded, TreeRef, encode
from schemas.events.agent import AgentArchived, AgentBorn, AgentGenomeActivated
from schemas.events.attempt import AttemptFinished, AttemptQueued
from schemas.events.birth import BirthMutationDrafted
from schemas.events.chain import ChainHeaded
from schemas.events.epoch import EpochClosed, EpochOpened
from schemas.events.evidence import EvidenceFrozen
from schemas.events.export import ExportCompleted, ExportFailed, ExportRequested
from schemas.events.genesis import GenesisVariantsDrafted
from schemas.events.genome import GenomeCommitted, GenomeRejected, GenomeStaged, Origin
from schemas.events.leaderboard import LeaderboardPublished
from schemas.events.preflight import PreflightCheckFailed, PreflightCheckPassed
from schemas.events.reflection import ReflectionProposed
from schemas.events.run import RunCancelled, RunCompleted, RunFailed, RunLocked, RunRequested
from services.lineage.core import chain, genome

TRIAL = "t-"
HANDLES = tuple(CATALOGUE.values())  # the chain covers every event
BOUNDARIES = (RunLocked, EpochClosed, RunCompleted, RunFailed, RunCancelled)
OF_RUN = (
    RunRequested, RunLocked, RunCompleted, EpochOpened, PreflightCheckPassed, PreflightCheckFailed,
    LeaderboardPublished, ChainHeaded, ExportRequested, ExportCompleted, ExportFailed,
)  # fmt: skip
OF_PROPOSAL = (
    GenesisVariantsDrafted, ReflectionProposed, BirthMutationDrafted, GenomeStaged,
    AttemptFinished, GenomeCommitted, GenomeRejected,
)  # fmt: skip
OF_AGENT = (AgentBorn, AgentGenomeActivated, AgentArchived, AttemptQueued, EvidenceFrozen)


class Base(NamedTuple):
    """The tree and the commit that generation one varies."""

    tree: str
    commit: str


class Proposal(NamedTuple):
    """A genome to be. `source`: the prompts of a genesis batch, else the mutation."""

    id: str
    origin: Origin
    branch: str
    parent: str | None
    source: BlobRef
    epoch: int | None


class View:
    """A fold of every event of the run; decisions only read it."""

    def __init__(self, run: str, read: Callable[[BlobRef], bytes]) -> None:
        self.run = run
        self.read = read
        self.seq = 0
        self.count = 0
        self.chain_head = chain.START
        self.headed_up_to = 0
        self.boundary_seq = 0
        self.epoch: int | None = None
        self.requested: RunRequested | None = None
        self.locked: RunLocked | None = None
        self.base: Base | None = None
        self.preflight_seq = 0
        self.proposals: dict[str, Proposal] = {}
        self.pending: dict[str, None] = {}
        self.staged: dict[str, GenomeStaged] = {}
        self.tried: dict[str, AttemptFinished] = {}
        self.genomes: dict[str, GenomeRef] = {}
        self.committed: dict[str, GenomeCommitted] = {}
        self.exports: dict[str, ExportRequested] = {}
        self.exported: set[str] = set()
        self.boards: dict[int, LeaderboardPublished] = {}
        self.completed: RunCompleted | None = None
        self.population: dict[str, str] = {}
        self.seeds: dict[str, int] = {}
        self.candidates: dict[str, BlobRef] = {}
        self._blob_ids: dict[str, str] = {}

    def apply(self, recorded: Recorded) -> None:
        self.seq = recorded.seq
        self.count += 1
        self.chain_head = chain.extend(self.chain_head, recorded.body or encode(recorded.envelope))
        kind = type(recorded.data)
        if kind in BOUNDARIES:
            self.boundary_seq = recorded.seq
        fold = FOLDS.get(kind)
        if fold is not None:
            fold(self, recorded)

    def blob_id(self, sha256: str, fresh: Mapping[str, bytes]) -> str:
        """The git id of a content; a stored one is hashed once, as its hash says all of it."""
        if sha256 not in self._blob_ids:
            content = fresh[sha256] if sha256 in fresh else self.content(sha256)
            self._blob_ids[sha256] = genome.blob_id(content)
        return self._blob_ids[sha256]

    def content(self, sha256: str) -> bytes:
        return self.read(BlobRef(sha256=sha256, size=0))

    def _apply_run(self, recorded: Recorded) -> None:
        match recorded.data:
            case RunRequested() as event:
                self.requested = event
            case RunLocked() as event:
                self.locked = event
            case EpochOpened(epoch=epoch):
                self.epoch = epoch
            case PreflightCheckPassed(check="seed", resolved=found):
                self.base = Base(found["seed_sha"], found["base"])
                self.preflight_seq = recorded.seq
            case PreflightCheckFailed(check="seed"):
                self.preflight_seq = recorded.seq
            case LeaderboardPublished(epoch=epoch) as event:
                self.boards[epoch] = event
            case RunCompleted() as event:
                self.completed = event
            case ChainHeaded(up_to_seq=up_to_seq):
                self.headed_up_to = up_to_seq
            case ExportRequested() as event:
                self.exports[recorded.entity_id] = event
            case ExportCompleted() | ExportFailed():
                self.exported.add(recorded.entity_id)

    def _apply_proposal(self, recorded: Recorded) -> None:
        epoch = recorded.envelope.epoch
        match recorded.data:
            case GenesisVariantsDrafted(variants=variants, prompts=prompts):
                for variant in variants:
                    name = variant.proposal
                    branch = name.removeprefix("g-")
                    self._propose(Proposal(name, "genesis", branch, None, prompts, epoch))
            case ReflectionProposed(proposal=name, agent=agent, parent=parent, mutation=mutation):
                self._propose(Proposal(name, "reflection", agent, parent, mutation, epoch))
            case BirthMutationDrafted(proposal=name, agent=agent, parent_genome=parent) as event:
                self._propose(Proposal(name, "birth", agent, parent, event.mutation, epoch))
            case GenomeStaged(proposal=name) as event:
                self.staged[name] = event
                self.pending.pop(name, None)
            case AttemptFinished() as event if recorded.entity_id.startswith(TRIAL):
                self._try(recorded.entity_id.removeprefix(TRIAL), event)
            case GenomeCommitted(proposal=name, genome=genome) as event:
                self.genomes.setdefault(genome.genome, genome)
                self.committed.setdefault(genome.genome, event)
                self._settle(name)
            case GenomeRejected(proposal=name):
                self._settle(name)

    def _apply_agent(self, recorded: Recorded) -> None:
        match recorded.data:
            case AgentBorn(agent=agent, genome=genome):
                self.population[agent] = genome
            case AgentGenomeActivated(agent=agent, genome=genome):
                self.population[agent] = genome
            case AgentArchived(agent=agent):
                self.population.pop(agent, None)
            case AttemptQueued(purpose="epoch", agent=str(agent), seed=seed):
                self.seeds[agent] = seed
            case EvidenceFrozen(agent=agent, candidate=BlobRef() as candidate):
                self.candidates[agent] = candidate

    def _propose(self, proposal: Proposal) -> None:
        if proposal.id not in self.proposals:
            self.proposals[proposal.id] = proposal
            self.pending[proposal.id] = None

    def _try(self, name: str, finished: AttemptFinished) -> None:
        # A cancelled trial says nothing about the proposal.
        if name in self.staged and finished.outcome != "cancelled":
            self.tried[name] = finished

    def _settle(self, name: str) -> None:
        self.pending.pop(name, None)
        self.staged.pop(name, None)
        self.tried.pop(name, None)


def tree_ref(sha256: str) -> TreeRef:
    """A tree known by its hash alone; readers look at nothing else."""
    return TreeRef(sha256=sha256, size=0)


# Most events concern the chain alone: a look-up is cheaper than asking every pattern.
FOLDS: dict[type[Event], Callable[[View, Recorded], None]] = {
    **dict.fromkeys(OF_RUN, View._apply_run),
    **dict.fromkeys(OF_PROPOSAL, View._apply_proposal),
    **dict.fromkeys(OF_AGENT, View._apply_agent),
}
