"""Edits of one stage, from what was measured about that stage."""

from dataclasses import replace

from kadath.offline.search.constants import fresh, scaled, taught, tuned
from kadath.offline.search.draw import Draw
from kadath.offline.search.edits import (
    Change,
    Edit,
    Measured,
    best_stage,
    drop,
    promising,
    put,
    related,
)
from kadath.offline.search.facts import ACCEPTABLE_LOSS, StageFact
from kadath.offline.search.part import Part
from kadath.offline.search.pressing import pressing_edits
from kadath.offline.search.program import Program, Stage
from kadath.offline.search.toolbox import Toolbox


def stage_edits(
    place: int, own: Measured, promise: dict[str, float], toolbox: Toolbox, draw: Draw
) -> list[Edit]:
    """Tune it, share more or less of the budget with it, repeat it, replace it, take it out."""
    program, facts = own
    stage = program.stages[place]
    matches = len(facts.stages) == len(program.stages)
    known = facts.stages[place] if matches else None
    teacher = best_stage(own)
    idle = known is not None and known.idle
    edits = _general(place, stage, promise, teacher, idle, toolbox, draw)
    if known is None:
        return edits
    edits += pressing_edits(place, stage.part, known, toolbox, draw)
    edits += _steps(place, stage, known, toolbox, draw)
    edits += _lessons(place, stage, known, teacher)
    if idle:
        return edits + _idle(place, program, promise, teacher, toolbox, draw)
    return edits + _gaining(place, program, toolbox, draw)


def _general(
    place: int,
    stage: Stage,
    promise: dict[str, float],
    teacher: Part | None,
    idle: bool,
    toolbox: Toolbox,
    draw: Draw,
) -> list[Edit]:
    kind, other = (
        stage.part.kind,
        fresh(promising(related(promise, teacher, toolbox), draw), toolbox, draw, teacher),
    )
    near = tuned(stage.part, toolbox, draw)
    if draw.chance(0.5):
        near = tuned(near, toolbox, draw)
    return [
        Edit(0.2 if idle else 1.0, f"tune {kind}", put(place, near)),
        Edit(0.1, f"{other.kind} instead of {kind}", put(place, other)),
    ]


def _lessons(place: int, stage: Stage, known: StageFact, teacher: Part | None) -> list[Edit]:
    """Constants of the part that gained most, for one that loses where that one does not."""
    if teacher is None or known.loss <= ACCEPTABLE_LOSS:
        return []
    part = taught(stage.part, teacher)
    if part.constants == stage.part.constants:
        return []
    reason = f"{stage.part.kind} takes over constants of {teacher.kind}"
    return [Edit(2.0, reason, put(place, part))]


def _idle(
    place: int,
    program: Program,
    promise: dict[str, float],
    teacher: Part | None,
    toolbox: Toolbox,
    draw: Draw,
) -> list[Edit]:
    kind = program.stages[place].part.kind
    other = fresh(promising(related(promise, teacher, toolbox), draw), toolbox, draw, teacher)
    alone = len(program.stages) == 1
    return [
        *([] if alone else [drop(place, 1.0, f"{kind} gained nothing: take it out")]),
        Edit(1.0, f"{kind} gained nothing: try {other.kind}", put(place, other)),
    ]


def _gaining(place: int, program: Program, toolbox: Toolbox, draw: Draw) -> list[Edit]:
    kind, edits = program.stages[place].part.kind, []
    if len(program.stages) > 1:
        factor = 1.3 + 0.7 * draw.between(0, 1)
        edits.append(Edit(0.4, f"{kind} gained: give it more", _share(place, factor)))
    if len(program.stages) < toolbox.most_stages:
        near = tuned(program.stages[place].part, toolbox, draw)
        edits.append(Edit(0.3, f"{kind} gained: repeat it, tuned", _repeat(place, near)))
    return edits


def _steps(place: int, stage: Stage, known: StageFact, toolbox: Toolbox, draw: Draw) -> list[Edit]:
    """Steps follow the rate of acceptance: rarely accepted, smaller; mostly accepted, larger."""
    names = [name for name in ("step", "kick") if name in stage.part.constants]
    if known.tried < 5 or not names:
        return []
    rate = known.accepted / known.tried
    if 0.05 <= rate <= 0.5:
        return []
    factor = (0.5 if rate < 0.05 else 1.6) * draw.blur(0.2)
    part = scaled(stage.part, names[0], toolbox, draw, factor)
    return [Edit(0.8, f"{rate:.0%} of the steps accepted: change the step", put(place, part))]


def _share(place: int, factor: float) -> Change:
    def apply(program: Program) -> Program:
        stages = list(program.stages)
        stages[place] = replace(stages[place], share=stages[place].share * factor)
        return replace(program, stages=tuple(stages))

    return apply


def _repeat(place: int, part: Part) -> Change:
    def apply(program: Program) -> Program:
        twin = replace(program.stages[place], part=part)
        stages = program.stages[: place + 1] + (twin,) + program.stages[place + 1 :]
        return replace(program, stages=stages)

    return apply
