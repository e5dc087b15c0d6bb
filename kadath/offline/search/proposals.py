"""Solver source in, changed solver source out: what Birther and middle cohort share."""

from typing import NamedTuple

from kadath.offline.search.draw import Draw
from kadath.offline.search.edits import Measured
from kadath.offline.search.facts import facts_of
from kadath.offline.search.program import Program, read, write
from kadath.offline.search.random_program import random_program
from kadath.offline.search.steer import Proposal, explored, steered
from kadath.offline.search.toolbox import Toolbox

TRIES = 20


class Solver(NamedTuple):
    """A solver's source and what was measured about it."""

    source: str
    measured: object = None


class Change(NamedTuple):
    """The new source and why."""

    source: str
    reason: str


def child(
    parent: Solver, elites: list[Solver], toolbox: Toolbox, refused: set[str], draw: Draw
) -> Change | None:
    """The parent with edits that its facts suggest, or with parts of the elites."""
    base = Measured(read(parent.source) or _starter(toolbox), facts_of(parent.measured))
    mates = _programs(elites, parent.source)
    change = explored if not base.program.stages or draw.chance(toolbox.exploring) else steered
    return _first_new(
        lambda: change(base, mates, toolbox, draw),
        toolbox,
        refused | {parent.source},
    )


def adapted(
    own: Solver, elites: list[Solver], toolbox: Toolbox, refused: set[str], draw: Draw
) -> Change | None:
    """A middle agent's change: mostly an elite's program with own parts, else its own tuned."""
    if elites and draw.chance(0.85):
        chosen = draw.weighted([(1.0 / (rank + 1), elite) for rank, elite in enumerate(elites)])
        others = [own, *(elite for elite in elites if elite is not chosen)]
        return child(chosen, others, toolbox, refused | {own.source}, draw)
    return child(own, elites, toolbox, refused, draw)


def unseen(toolbox: Toolbox, refused: set[str], draw: Draw) -> Change | None:
    """A whole random program."""
    return _first_new(
        lambda: Proposal(random_program(toolbox, draw), "a whole random program"), toolbox, refused
    )


def _first_new(propose, toolbox: Toolbox, refused: set[str]) -> Change | None:  # type: ignore[no-untyped-def]
    for _ in range(TRIES):
        proposal = propose()
        source = write(proposal.program, toolbox)
        if source not in refused:
            return Change(source, proposal.reason)
    return None


def _programs(solvers: list[Solver], besides: str) -> list[Measured]:
    found = [(read(s.source), facts_of(s.measured)) for s in solvers if s.source != besides]
    return [Measured(program, facts) for program, facts in found if program]


def _starter(toolbox: Toolbox) -> Program:
    program = read(toolbox.starter)
    assert program is not None
    return program
