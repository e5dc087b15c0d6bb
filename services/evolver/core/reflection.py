"""A middle agent adapts by itself, or keeps the genome that was scored."""

import json
from datetime import datetime
from typing import Literal

from pydantic import ValidationError

from schemas import Draft, canonical, ids, ref_of
from schemas.events.genome import GenomeRejected
from schemas.events.reflection import (
    ReflectionProposed,
    ReflectionRequested,
    ReflectionSettled,
)
from schemas.values.mutation import Mutation
from services.evolver.core.selection import board_of
from services.evolver.core.view import Reflection, View

MOST_SECONDS = 300
Because = Literal[
    "mutated", "chose", "crashed", "duplicate", "no_change", "invalid", "trial_failed"
]
KNOWN: dict[str, Because] = {
    "duplicate": "duplicate",
    "no_change": "no_change",
    "trial_failed": "trial_failed",
}


def request(view: View, about: str, now: datetime) -> list[Draft]:
    """`reflection.requested` for one agent of the middle cohort."""
    selection, agent = view.selecting(about), about.partition("-")[2]
    if selection is None or selection.cohorts is None or selection.closed or view.terminal:
        return []
    if agent not in selection.cohorts.middle or about in selection.reflections:
        return []
    assert view.epoch is not None
    context = canonical(context_of(view, agent))
    requested = ReflectionRequested(
        agent=agent,
        genome=view.genome_of[agent],
        state=view.states.get(agent),
        context=ref_of(context),
        wall_seconds=min(view.epoch.attempt_seconds, MOST_SECONDS),
    )
    return [Draft(about, requested, selection.epoch, (context,))]


def context_of(view: View, agent: str) -> dict[str, object]:
    """What a reflecting agent may read; whole trees of elites are mounted beside it."""
    assert view.selection is not None and view.selection.cohorts is not None
    assert view.benchmark is not None and view.epoch is not None
    board = board_of(view)
    own = next(row for row in board if row.agent == agent)
    return {
        "agent": agent,
        "genome": own.genome,
        "rank": own.rank,
        "score": str(own.score),
        "cohort": "middle",
        "measured": measured(view, agent),
        "board": [row.model_dump(mode="json") for row in board],
        "elites": [_elite(view, row.agent) for row in board if _is_elite(view, row.agent)],
        "objective": view.benchmark.objective,
        "criterion": view.benchmark.metric,
        "seed": ids.seed_of(view.epoch.seed, "reflect", agent),
    }


def _is_elite(view: View, agent: str) -> bool:
    assert view.selection is not None and view.selection.cohorts is not None
    return agent in view.selection.cohorts.elite


def _elite(view: View, agent: str) -> dict[str, object]:
    return {
        "agent": agent,
        "score": str(view.scores[agent].score),
        "genome": view.genome_of[agent],
        "tree": f"/elites/{agent}",
        "measured": measured(view, agent),
    }


def measured(view: View, agent: str) -> object:
    """What the measuring program said about the agent's last attempt."""
    response = view.measured.get(agent)
    return json.loads(view.read(response)) if response else {}


def settle(view: View, about: str, now: datetime) -> list[Draft]:
    """Proposed, or settled: by what the attempt left, or by what lineage made of it."""
    selection = view.selecting(about)
    found = selection.reflections.get(about) if selection else None
    if selection is None or found is None or found.settled is not None or view.terminal:
        return []
    event: ReflectionProposed | ReflectionSettled | None
    if found.proposed is not None:
        event = _registered(view, found, found.proposed)
    elif found.finished is not None and found.finished.outcome != "cancelled":
        event = _proposal(view, about, found)
    else:
        return []
    return [Draft(about, event, selection.epoch)] if event else []


def _proposal(view: View, about: str, found: Reflection) -> ReflectionProposed | ReflectionSettled:
    finished = found.finished
    if finished is None or finished.outcome != "completed" or finished.result is None:
        return _kept(found, "crashed", finished.because if finished else "")
    try:
        mutation = Mutation.model_validate_json(view.read(finished.result))
    except ValidationError as error:
        return _kept(found, "invalid", str(error)[:1000])
    if mutation.action == "unchanged":
        return _kept(found, "chose", mutation.reason)
    return ReflectionProposed(
        agent=found.requested.agent,
        proposal=f"r-{about}",
        parent=found.requested.genome,
        mutation=finished.result,
        reason=mutation.reason[:2000],
    )


def _registered(
    view: View, found: Reflection, proposed: ReflectionProposed
) -> ReflectionSettled | None:
    committed = view.committed.get(proposed.proposal)
    if committed is not None:
        return ReflectionSettled(
            agent=proposed.agent,
            genome=committed.genome.genome,
            changed=True,
            because="mutated",
        )
    rejected = view.rejected.get(proposed.proposal)
    return _kept(found, because_of(rejected), rejected.detail) if rejected else None


def because_of(rejected: GenomeRejected) -> Because:
    return KNOWN.get(rejected.reason, "invalid")


def _kept(found: Reflection, because: Because, detail: str) -> ReflectionSettled:
    return ReflectionSettled(
        agent=found.requested.agent,
        genome=found.requested.genome,
        changed=False,
        because=because,
        detail=detail[:2000],
    )
