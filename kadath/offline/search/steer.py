"""From measured facts to the next program: one to three edits, the likelier ones first."""

from typing import NamedTuple

from kadath.offline.search.constants import fresh
from kadath.offline.search.draw import Draw
from kadath.offline.search.edits import (
    Edit,
    Measured,
    add,
    best_stage,
    drop,
    graft,
    inheriting,
    layout_edits,
    matches,
    promising,
    without,
)
from kadath.offline.search.facts import IDLE
from kadath.offline.search.program import Program, Stage
from kadath.offline.search.stage_edits import stage_edits
from kadath.offline.search.toolbox import Toolbox

INHERIT = 0.9


class Proposal(NamedTuple):
    """A changed program and the reasons for the changes."""

    program: Program
    reason: str


def steered(own: Measured, mates: list[Measured], toolbox: Toolbox, draw: Draw) -> Proposal:
    """The program after edits that its own facts and those of its mates suggest."""
    promise = _promise([own, *mates], toolbox)
    heir = inheriting(own, toolbox) if draw.chance(INHERIT) else own
    program, facts = heir
    reasons = [] if heir is own else ["go on from what was found"]
    for _ in range(draw.weighted([(0.3, 1), (0.4, 2), (0.3, 3)])):
        edits = _edits(Measured(program, facts), mates, promise, toolbox, draw)
        edit = draw.weighted([(option.weight, option) for option in edits])
        changed = edit.apply(program)
        # Facts belong to places: they say nothing about a program of another shape.
        facts = facts if len(changed.stages) == len(program.stages) else edit.facts
        program = changed
        reasons.append(edit.reason)
    return Proposal(program.budgeted(), "; ".join(reasons))


def explored(own: Measured, mates: list[Measured], toolbox: Toolbox, draw: Draw) -> Proposal:
    """A new program from the kinds of stage that were measured as useful, or not yet at all."""
    promise = _promise([own, *mates], toolbox)
    teacher = best_stage(own) if draw.chance(0.85) else None
    parts = [
        fresh(promising(promise, draw), toolbox, draw, teacher)
        for _ in range(toolbox.most_stages - draw.below(2))
    ]
    layout = inheriting(own, toolbox).program.layout
    if draw.chance(0.6 * toolbox.leaving if own.program.stages else 0.7):
        layout = fresh(draw.pick(toolbox.layouts), toolbox, draw)
    stages = tuple(Stage(part, draw.between(0.3, 1.0)) for part in parts)
    kinds = ", ".join(part.kind for part in (layout, *parts))
    return Proposal(Program(draw.below(10_000), layout, stages).budgeted(), f"explore: {kinds}")


def _edits(
    own: Measured, mates: list[Measured], promise: dict[str, float], toolbox: Toolbox, draw: Draw
) -> list[Edit]:
    program, facts = own
    if not program.stages:
        return [add(own, promise, toolbox, draw, 1.0, "no search stage: add one")]
    idle = [place for place, fact in enumerate(facts.stages) if fact.idle]
    if matches(own) and 0 < len(idle) < len(program.stages) and draw.chance(0.7):
        return [without(idle, own)]
    if not facts.valid:
        return [drop(draw.below(len(program.stages)), 1.0, "failed: take a part out")]
    edits = layout_edits(own, mates, toolbox, draw)
    for place in range(len(program.stages)):
        edits += stage_edits(place, own, promise, toolbox, draw)
    if len(program.stages) < toolbox.most_stages:
        weight = 1.0 if facts.used > 0.9 else 1.5
        reason = f"{facts.used:.0%} of the budget used: search more"
        edits.append(add(own, promise, toolbox, draw, weight, reason))
    edits += [graft(mate.program, program, draw) for mate in mates if mate.program.stages]
    return edits


def _promise(known: list[Measured], toolbox: Toolbox) -> dict[str, float]:
    """How likely each kind of stage is picked: what gained most is, what gained nothing is not."""
    best: dict[str, float] = {}
    for _, facts in known:
        for stage in facts.stages:
            if stage.gain <= IDLE and not stage.idle:
                continue  # it went too far, which says nothing about what it could do
            best[stage.kind] = max(stage.gain, best.get(stage.kind, 0.0))
    top = max(best.values(), default=0.0)
    return {kind: _weight(best.get(kind), top) for kind in toolbox.stages}


def _weight(gain: float | None, top: float) -> float:
    if gain is None:
        return 0.6
    return 0.1 if gain <= IDLE else 0.2 + gain / top
