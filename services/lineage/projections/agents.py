"""Rows about agents, genomes and attempts: who lives, who came from whom, who is working."""

from collections.abc import Mapping

from schemas import Event, Recorded
from schemas.events.agent import AgentArchived, AgentBorn, AgentGenomeActivated
from schemas.events.attempt import (
    AttemptCrashed,
    AttemptFinished,
    AttemptQueued,
    AttemptRestarted,
    AttemptStarted,
)
from schemas.events.birth import BirthMutationDrafted
from schemas.events.evidence import EvidenceFrozen
from schemas.events.genome import GenomeCommitted, GenomeRejected, GenomeStaged
from schemas.events.reflection import ReflectionProposed
from schemas.events.score import ScoreComputed
from services.lineage.projections.writes import Write, update, upsert

HANDLES: tuple[type[Event], ...] = (
    AgentBorn, AgentGenomeActivated, AgentArchived, ReflectionProposed, BirthMutationDrafted,
    GenomeStaged, GenomeCommitted, GenomeRejected, AttemptQueued, AttemptStarted, AttemptCrashed,
    AttemptRestarted, AttemptFinished, EvidenceFrozen, ScoreComputed,
)  # fmt: skip


def writes(recorded: Recorded) -> list[Write]:
    """What one event changes."""
    return _agent(recorded) or _genome(recorded) or _attempt(recorded)


def _agent(recorded: Recorded) -> list[Write]:
    run = recorded.run
    match recorded.data:
        case AgentBorn() as event:
            return _born(recorded, event)
        case AgentGenomeActivated(agent=agent, genome=genome, previous=previous, epoch=epoch):
            line = {"change": "mutated", "genome": genome, "previous": previous, "parent": None}
            return [
                update("population", {"run": run, "agent": agent}, genome=genome),
                _ancestor(run, agent, epoch, line),
            ]
        case AgentArchived(agent=agent, epoch=epoch, rank=rank, because=because):
            end = {"archived_epoch": epoch, "archived_rank": rank, "archived_because": because}
            key = {"run": run, "agent": agent}
            return [update("population", key, status="archived", **end)]
        case _:
            return []


def _born(recorded: Recorded, event: AgentBorn) -> list[Write]:
    line = {
        "change": "born",
        "genome": event.genome,
        "previous": event.parent_genome,
        "parent": event.parent,
    }
    member = upsert(
        "population",
        ("run", "agent"),
        run=recorded.run,
        agent=event.agent,
        genome=event.genome,
        parent=event.parent,
        parent_genome=event.parent_genome,
        clone=event.clone,
        birth_epoch=event.birth_epoch,
        status="active",
    )
    return [member, _ancestor(recorded.run, event.agent, event.birth_epoch, line)]


def _ancestor(run: str, agent: str, epoch: int, line: Mapping[str, object]) -> Write:
    keys = ("run", "agent", "epoch", "change")
    return upsert("ancestry", keys, run=run, agent=agent, epoch=epoch, **line)


def _genome(recorded: Recorded) -> list[Write]:
    match recorded.data:
        case ReflectionProposed(proposal=proposal):
            return [_proposal(recorded, proposal, "reflection", "proposed")]
        case BirthMutationDrafted(proposal=proposal):
            return [_proposal(recorded, proposal, "birth", "proposed")]
        case GenomeStaged(proposal=proposal, origin=origin):
            return [_proposal(recorded, proposal, origin, "staged")]
        case GenomeRejected(proposal=proposal, origin=origin) as event:
            why = {"reason": event.reason, "duplicate_of": event.duplicate_of}
            return [_proposal(recorded, proposal, origin, "rejected", **why, detail=event.detail)]
        case GenomeCommitted(proposal=proposal, origin=origin) as event:
            line = _proposal(recorded, proposal, origin, "committed")
            return [line, _registered(recorded, event)]
        case _:
            return []


def _proposal(
    recorded: Recorded, proposal: str, origin: str, status: str, **columns: object
) -> Write:
    epoch = recorded.envelope.epoch
    key = {"run": recorded.run, "proposal": proposal}
    fixed = {"origin": origin, "status": status, "epoch": epoch}
    return upsert("proposals", ("run", "proposal"), **key, **fixed, **columns)


def _registered(recorded: Recorded, event: GenomeCommitted) -> Write:
    return upsert(
        "genomes",
        ("run", "genome"),
        run=recorded.run,
        genome=event.genome.genome,
        proposal=event.proposal,
        origin=event.origin,
        parent=event.parent,
        branch=event.branch,
        git_tree=event.genome.tree,
        git_commit=event.genome.commit,
        files_sha=event.genome.files.sha256,
        prompt_sha=event.genome.prompt_sha,
        runtime_sha=event.genome.runtime_sha,
        epoch=recorded.envelope.epoch,
        changed=[change.model_dump() for change in event.changed],
    )


def _attempt(recorded: Recorded) -> list[Write]:
    key = {"run": recorded.run, "attempt": recorded.entity_id}
    match recorded.data:
        case AttemptQueued() as event:
            return [_queued(recorded, event)]
        case AttemptStarted():
            return [update("attempts", key, state="running")]
        case AttemptCrashed(reason=reason):
            return [update("attempts", key, state="crashed", because=reason)]
        case AttemptRestarted(restart=restart):
            return [update("attempts", key, state="running", restarts=restart)]
        case AttemptFinished(outcome=outcome, because=because, restarts=restarts):
            end = {"outcome": outcome, "because": because, "restarts": restarts}
            return [update("attempts", key, state="finished", **end)]
        case EvidenceFrozen(manifest=manifest):
            return [update("attempts", key, evidence_sha=manifest.sha256)]
        case ScoreComputed(score=score):
            return [update("attempts", key, score=score)]
        case _:
            return []


def _queued(recorded: Recorded, event: AttemptQueued) -> Write:
    return upsert(
        "attempts",
        ("run", "attempt"),
        run=recorded.run,
        attempt=event.attempt,
        purpose=event.purpose,
        agent=event.agent,
        genome=event.genome,
        epoch=recorded.envelope.epoch,
        state="queued",
    )
