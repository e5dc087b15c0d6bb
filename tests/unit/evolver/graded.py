"""Given: a population whose epoch is graded, and what selection made of it so far."""

from schemas import canonical
from schemas.events.agent import AgentBorn
from schemas.events.brief import BriefDossierReviewed, BriefIssued
from schemas.events.epoch import EpochSelectionRequested
from schemas.events.measurement import MeasurementRecorded
from schemas.values.answers import Briefs
from schemas.values.tree import Tree
from services.evolver.core import birth, brief, reflection, selection
from services.evolver.core.view import View
from tests.support.given import (
    START,
    Past,
    agents,
    board,
    finished,
    locked,
    opened,
    published,
    requested,
    scored,
    sha,
)

EMPTY = Tree(files=())


def graded(successes: int = 10, failures: int = 0, **changes) -> Past[View]:
    """Agents in rank order; everybody left a state, everybody was measured."""
    count = successes + failures
    names = agents(count)
    past = Past(View).given(requested(population=count, **changes))
    past.given(locked(past))
    for name in names:
        past.given(AgentBorn(agent=name, genome=sha(f"genome {name}"), birth_epoch=1), of=name)
    past.given(opened(past, names), of="e001")
    for row in board(successes, failures):
        attempt = f"e001x1-{row.agent}"
        past.given(finished(state_out=past.keep_tree(EMPTY)), of=attempt)
        response = past.keep(canonical({"value": row.rank}))
        measured = MeasurementRecorded(
            attempt=attempt, agent=row.agent, program="measure", response=response
        )
        past.given(measured, of=f"{attempt}-m-measure")
        past.given(scored(row.agent, row.score, outcome=row.outcome), of=attempt)
    past.given(published(past, board(successes, failures)), of="e001")
    return past.given(EpochSelectionRequested(epoch=1, attempt_try=1), of="e001")


def assigned(*args: int, **changes) -> Past[View]:
    past = graded(*args, **changes)
    return past.then(selection.assign(past.view, "e001", START))


def dossiers(*args: int, **changes) -> Past[View]:
    past = assigned(*args, **changes)
    return past.then(brief.advance(past.view, "e001", START))


def reviewed(past: Past[View], *parts: int) -> Past[View]:
    for part in parts:
        queued = past.view.selection.dossiers[part]
        event = BriefDossierReviewed(
            part=part, notes=past.keep(b"{}"), coverage=queued.coverage, call="c"
        )
        past.given(event, of="e001")
    return past


def issued(*children: tuple[str, int], **changes) -> Past[View]:
    """Briefs for the parents given; ten agents, three births."""
    past = reviewed(dossiers(**changes), 0)
    past.then(brief.advance(past.view, "e001", START))
    answer = Briefs(
        elite_characteristics=("x",),
        parents=tuple({"agent": a, "children": n, "brief": f"like {a}"} for a, n in children),  # type: ignore[misc]
    )
    event = BriefIssued(analysis=past.keep(canonical(answer)), parents=len(children), call="c")
    return past.given(event, of="e001")


def reflecting(**changes) -> Past[View]:
    """All births and all reflections are asked for."""
    past = issued(("a0002", 1), ("a0001", 2), **changes)
    for agent in agents(4, 4):
        past.then(reflection.request(past.view, f"e001-{agent}", START))
    for agent in agents(3, 11):
        past.then(birth.request(past.view, f"e001-{agent}", START))
    return past
