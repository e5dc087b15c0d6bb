"""Edits of a whole program: its layout, its stages' number and order, parts of others."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from kadath.offline.search.constants import fresh, tuned
from kadath.offline.search.draw import Draw
from kadath.offline.search.facts import IDLE, Facts
from kadath.offline.search.part import Part
from kadath.offline.search.program import Program, Stage
from kadath.offline.search.toolbox import Toolbox

Change = Callable[[Program], Program]


class Edit(NamedTuple):
    """A possible change, how much the facts speak for it, and what to say about it.

    `facts` are what is still known when the change has made another number of stages.
    """

    weight: float
    reason: str
    apply: Change
    facts: Facts = Facts()


class Measured(NamedTuple):
    """A program and what was measured about it."""

    program: Program
    facts: Facts


def inheriting(own: Measured, toolbox: Toolbox) -> Measured:
    """The program going on from the answer that it found, where the toolbox has an heirloom."""
    program, facts = own
    if not toolbox.heirloom or not facts.answer:
        return own
    part = toolbox.parts[toolbox.heirloom].having("rows", facts.answer)
    return Measured(replace(program, layout=part), facts)


def layout_edits(own: Measured, mates: list[Measured], toolbox: Toolbox, draw: Draw) -> list[Edit]:
    """Another layout, the same one tuned, a mate's, or other random numbers."""
    program = own.program
    other = fresh(draw.pick(toolbox.layouts), toolbox, draw)
    if program.layout.kind == toolbox.heirloom:
        return [
            _salted(draw),
            _layout(toolbox.leaving, f"leave what was found: {other.kind}", other),
        ]
    near = tuned(program.layout, toolbox, draw)
    edits = [_layout(0.5, f"start from {other.kind}", other), _salted(draw)]
    if near is not program.layout:
        edits.append(_layout(0.7, f"tune {near.kind}", near))
    if mates:
        theirs = draw.pick(mates).program.layout
        edits.append(_layout(0.4, f"take another's {theirs.kind}", theirs))
    return edits


def add(
    own: Measured,
    promise: dict[str, float],
    toolbox: Toolbox,
    draw: Draw,
    weight: float,
    reason: str,
) -> Edit:
    """A new stage, first or last."""
    teacher = best_stage(own)
    kind = promising(related(promise, teacher, toolbox), draw)
    part = fresh(kind, toolbox, draw, teacher)
    first, share = draw.chance(0.4), draw.between(0.2, 0.8)

    def apply(program: Program) -> Program:
        stage = Stage(part, share * sum(stage.share for stage in program.stages) or 1.0)
        stages = (stage, *program.stages) if first else (*program.stages, stage)
        return replace(program, stages=stages)

    return Edit(weight, f"{reason}: {part.kind}", apply)


def graft(mate: Program, program: Program, draw: Draw) -> Edit:
    """A stage of another program in place of one of this."""
    part = draw.pick(mate.stages).part
    return Edit(0.4, f"take another's {part.kind}", put(draw.below(len(program.stages)), part))


def drop(place: int, weight: float, reason: str) -> Edit:
    def apply(program: Program) -> Program:
        return replace(program, stages=program.stages[:place] + program.stages[place + 1 :])

    return Edit(weight, reason, apply)


def without(idle: list[int], own: Measured) -> Edit:
    """Take out every stage that gained nothing, so that the others get its work."""
    program, facts = own
    useful = [place for place in range(len(program.stages)) if place not in idle]
    kept = tuple(program.stages[place] for place in useful)
    known = replace(facts, stages=tuple(facts.stages[place] for place in useful))
    kinds = ", ".join(program.stages[place].part.kind for place in idle)
    reason = f"gained nothing: take out {kinds}"
    return Edit(1.0, reason, lambda program: replace(program, stages=kept), known)


def matches(own: Measured) -> bool:
    """Whether the facts are about the program's stages, one each."""
    return bool(own.facts.stages) and len(own.facts.stages) == len(own.program.stages)


def put(place: int, part: Part) -> Change:
    """Another part in place of a stage's."""

    def apply(program: Program) -> Program:
        stages = list(program.stages)
        stages[place] = replace(stages[place], part=part)
        return replace(program, stages=tuple(stages))

    return apply


def best_stage(own: Measured) -> Part | None:
    """The part that gained most, if any is known to have gained."""
    program, facts = own
    if not matches(own):
        return None
    gain, place = max((fact.gain, -place) for place, fact in enumerate(facts.stages))
    return program.stages[-place].part if gain > IDLE else None


def related(promise: dict[str, float], teacher: Part | None, toolbox: Toolbox) -> dict[str, float]:
    """More promise for kinds of stage that have constants in common with a useful part."""
    if teacher is None:
        return promise
    names = set(teacher.constants)
    return {
        kind: weight * (1 + len(names & set(toolbox.parts[kind].constants)))
        for kind, weight in promise.items()
    }


def promising(promise: dict[str, float], draw: Draw) -> str:
    """A kind of stage, in proportion to its promise."""
    return draw.weighted([(weight, kind) for kind, weight in sorted(promise.items())])


def _salted(draw: Draw) -> Edit:
    salt = draw.below(10_000)
    return Edit(0.4, "draw other random numbers", lambda program: replace(program, salt=salt))


def _layout(weight: float, reason: str, part: Part) -> Edit:
    return Edit(weight, reason, lambda program: replace(program, layout=part))
