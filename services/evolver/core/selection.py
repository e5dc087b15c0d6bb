"""Who stays, who adapts, who goes; and the one batch that changes the population."""

from datetime import datetime

from schemas import Draft, ids
from schemas.canonical import listed, rows
from schemas.events.agent import AgentArchived, AgentBorn, AgentGenomeActivated
from schemas.events.birth import BirthSettled
from schemas.events.selection import SelectionClosed, SelectionCohortsAssigned
from schemas.values.population import ChangeRow, RankedRow
from services.evolver.core import cohorts
from services.evolver.core.cohorts import Cohorts
from services.evolver.core.view import Birth, Selection, View


def assign(view: View, about: str, now: datetime) -> list[Draft]:
    """The cohorts of the graded epoch, or at once a turnover without changes."""
    selection = view.selecting(about)
    if selection is None or selection.cohorts is not None or selection.closed or view.terminal:
        return []
    assert view.request is not None and view.board is not None
    if not view.request.strategy.births:
        return [_closed(view, selection, [])]
    found = _cohorts(view, board_of(view))
    listed = rows(found.rows())
    event = SelectionCohortsAssigned(
        epoch=selection.epoch,
        cohorts=listed.ref,
        count=listed.count,
        elite=len(found.elite),
        middle=len(found.middle),
        culled=len(found.culled),
        births=found.births,
        rule=cohorts.RULE,
    )
    return [Draft(about, event, selection.epoch, (listed.content,))]


def _cohorts(view: View, board: list[RankedRow]) -> Cohorts:
    assert view.request is not None
    rule = cohorts.assign
    if view.request.strategy.name == "random":
        rule = cohorts.replace_all_but_elite
    return rule(board, view.request.population)


def board_of(view: View) -> list[RankedRow]:
    assert view.board is not None
    return listed(view.read(view.board.rows), RankedRow)


def turn_over(view: View, about: str, now: datetime) -> list[Draft]:
    """One atomic batch once every reflection and every birth is settled."""
    selection = view.selecting(about)
    if selection is None or selection.closed or selection.cohorts is None or view.terminal:
        return []
    found = selection.cohorts
    if len(selection.reflections) < len(found.middle) or len(selection.births) < found.births:
        return []
    waiting = [r for r in selection.reflections.values() if r.settled is None]
    if waiting or any(b.settled is None for b in selection.births.values()):
        return []
    return _batch(view, selection, found)


def _batch(view: View, selection: Selection, found: Cohorts) -> list[Draft]:
    archived = [_archive(view, selection.epoch, agent) for agent in found.culled]
    mutated = _mutations(view, selection)
    newborn = [_born(view, selection, b.settled) for b in _births(selection) if b.settled]
    changes = [
        *(ChangeRow(agent=d.entity_id, change="archived") for d in archived),
        *(_change(d, "mutated") for d in mutated),
        *(_change(d, "born") for d in newborn),
    ]
    return [*archived, *mutated, *newborn, _closed(view, selection, changes)]


def _births(selection: Selection) -> list[Birth]:
    return [selection.births[key] for key in sorted(selection.births)]


def _archive(view: View, epoch: int, agent: str) -> Draft:
    row = next(row for row in board_of(view) if row.agent == agent)
    because = "rank" if row.outcome == "success" else "failed"
    event = AgentArchived(agent=agent, epoch=epoch, rank=row.rank, because=because)  # type: ignore[arg-type]
    return Draft(agent, event, epoch)


def _mutations(view: View, selection: Selection) -> list[Draft]:
    drafts = []
    for key in sorted(selection.reflections):
        settled = selection.reflections[key].settled
        if settled is None or not settled.changed:
            continue
        event = AgentGenomeActivated(
            agent=settled.agent,
            previous=view.genome_of[settled.agent],
            genome=settled.genome,
            epoch=selection.epoch,
        )
        drafts.append(Draft(settled.agent, event, selection.epoch))
    return drafts


def _born(view: View, selection: Selection, settled: BirthSettled) -> Draft:
    """A child inherits its parent's state and memory by reference; a clone starts empty."""
    state = None if settled.clone else view.states.get(settled.parent)
    event = AgentBorn(
        agent=settled.agent,
        genome=settled.genome,
        clone=settled.clone,
        parent=settled.parent,
        parent_genome=view.genome_of[settled.parent],
        birth_epoch=selection.epoch + 1,
        state=state,
        memory_from=settled.parent,
        memory_seq=view.seq,
    )
    return Draft(settled.agent, event, selection.epoch)


def _change(draft: Draft, change: str) -> ChangeRow:
    assert isinstance(draft.data, (AgentBorn, AgentGenomeActivated))
    return ChangeRow(agent=draft.entity_id, change=change, genome=draft.data.genome)  # type: ignore[arg-type]


def _closed(view: View, selection: Selection, changes: list[ChangeRow]) -> Draft:
    listed = rows(changes)
    event = SelectionClosed(epoch=selection.epoch, changes=listed.ref, count=listed.count)
    return Draft(ids.epoch_id(selection.epoch), event, selection.epoch, (listed.content,))
