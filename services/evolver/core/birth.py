"""Children of elites: asked for, drafted, registered or rejected, at last cloned."""

from datetime import datetime
from typing import NamedTuple

from schemas import Draft, Event, ids
from schemas.events.birth import (
    BirthMutationRejected,
    BirthRequested,
    BirthSettled,
)
from schemas.values.answers import Briefs
from services.evolver.core.view import Birth, Selection, View

TRIES = 5


class Slot(NamedTuple):
    """A newborn's place, its parent and what it should try."""

    agent: str
    parent: str
    brief: str


def slots(view: View, selection: Selection) -> list[Slot]:
    """Newborns in agent order: the parents' children, in the order of the elite."""
    assert selection.cohorts is not None and view.request is not None
    elite, births = selection.cohorts.elite, selection.cohorts.births
    names = [ids.agent_id(view.last_agent + n) for n in range(1, births + 1)]
    if view.request.strategy.name == "random":
        parents = [elite[n % len(elite)] for n in range(births)]
        return [Slot(a, p, "random") for a, p in zip(names, parents, strict=True)]
    if selection.issued is None:
        return []
    briefs = Briefs.model_validate_json(view.read(selection.issued.analysis))
    ordered = sorted(briefs.parents, key=lambda parent: elite.index(parent.agent))
    wanted = [(p.agent, p.brief) for p in ordered for _ in range(p.children)]
    return [Slot(a, p, b) for a, (p, b) in zip(names, wanted, strict=True)]


def request(view: View, about: str, now: datetime) -> list[Draft]:
    """`birth.requested` for one newborn of this epoch."""
    selection = view.selecting(about)
    if selection is None or selection.cohorts is None or selection.closed or view.terminal:
        return []
    if about in selection.births:
        return []
    agent = about.partition("-")[2]
    slot = next((s for s in slots(view, selection) if s.agent == agent), None)
    if slot is None:
        return []
    requested = BirthRequested(
        agent=agent,
        parent=slot.parent,
        parent_genome=view.genome_of[slot.parent],
        brief=slot.brief,
    )
    return [Draft(about, requested, selection.epoch)]


def advance(view: View, about: str, now: datetime) -> list[Draft]:
    """What lineage said about the newest proposal of one birth."""
    selection = view.selecting(about)
    birth = selection.births.get(about) if selection else None
    if selection is None or birth is None or birth.settled is not None or view.terminal:
        return []
    if birth.drafted is None:
        return _retry(about, selection, birth)
    committed = view.committed.get(birth.drafted.proposal)
    if committed is not None:
        event = _settled(birth, committed.genome.genome)
        return [Draft(about, event, selection.epoch)]
    rejected = view.rejected.get(birth.drafted.proposal)
    if rejected is None:
        return []
    return _rejected(about, selection, birth, rejected.reason, rejected.detail)


def _retry(about: str, selection: Selection, birth: Birth) -> list[Draft]:
    """After a resume the open request is made again; otherwise the model is still asked."""
    if about not in selection.retry:
        return []
    last = birth.requests[-1]
    again = last.model_copy(update={"tries": last.tries + 1})
    return [Draft(about, again, selection.epoch)]


def _rejected(
    about: str, selection: Selection, birth: Birth, reason: str, detail: str
) -> list[Draft]:
    last = birth.requests[-1]
    no = BirthMutationRejected(
        agent=last.agent, tries=last.tries, reason=reason, detail=detail[:2000]
    )
    following: Event
    if last.tries + 1 >= TRIES:
        following = _settled(birth, last.parent_genome, clone=True)
    else:
        why = f"{reason}: {detail}"[:500]
        again = {"tries": last.tries + 1, "rejected": (*last.rejected, why)}
        following = last.model_copy(update=again)
    return [Draft(about, no, selection.epoch), Draft(about, following, selection.epoch)]


def _settled(birth: Birth, genome: str, clone: bool = False) -> BirthSettled:
    last = birth.requests[-1]
    return BirthSettled(agent=last.agent, parent=last.parent, genome=genome, clone=clone)


def proposal_of(about: str, tries: int) -> str:
    return f"b-{about}-{tries}"
