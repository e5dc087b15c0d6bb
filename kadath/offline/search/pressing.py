"""Edits of a stage that presses an answer beyond what is valid: too hard, too softly, settled.

Such a stage has a constant `swell`; its measured loss is what making its result valid took away.
"""

from kadath.offline.search.constants import fresh, redrawn, scaled
from kadath.offline.search.draw import Draw
from kadath.offline.search.edits import Edit, put
from kadath.offline.search.facts import ACCEPTABLE_LOSS, SETTLED, StageFact
from kadath.offline.search.part import Part
from kadath.offline.search.toolbox import Toolbox

PRESSURE = "swell"
ESCAPES = ("kick", "among", "length")


def pressing_edits(
    place: int, part: Part, known: StageFact, toolbox: Toolbox, draw: Draw
) -> list[Edit]:
    """Ease a stage that loses much; press harder where that costs nothing; escape when settled."""
    if PRESSURE not in part.constants:
        return []
    if known.loss > ACCEPTABLE_LOSS:
        return [_eased(place, part, known, toolbox, draw)]
    edits = [_harder(place, part, known, toolbox, draw)]
    return edits + (_escapes(place, part, toolbox, draw) if known.gain < SETTLED else [])


def _eased(place: int, part: Part, known: StageFact, toolbox: Toolbox, draw: Draw) -> Edit:
    """Resolve overlaps faster, and only sometimes swell less: that would stop the flow as well."""
    ease = max(0.1, (ACCEPTABLE_LOSS / known.loss) ** 0.5)
    changes = {"give": 1.0 / ease, "push": 1.0 / ease}
    if draw.chance(0.3):
        changes["swell"] = ease
    for name, factor in changes.items():
        part = scaled(part, name, toolbox, draw, factor * draw.blur(0.3))
    reason = f"{known.loss:.1%} lost in fitting: change {' and '.join(changes)}"
    return Edit(3.0, reason, put(place, part))


def _harder(place: int, part: Part, known: StageFact, toolbox: Toolbox, draw: Draw) -> Edit:
    harder = scaled(part, PRESSURE, toolbox, draw, 3.0 * draw.blur(0.5))
    reason = f"only {known.loss:.1%} lost in fitting: press harder"
    return Edit(2.0, reason, put(place, harder))


def _escapes(place: int, part: Part, toolbox: Toolbox, draw: Draw) -> list[Edit]:
    """Other ways out of where it is, pressed as before."""
    kinds = [
        kind
        for kind in toolbox.stages
        if kind != part.kind and PRESSURE in toolbox.parts[kind].constants
    ]
    other = fresh(draw.pick(kinds), toolbox, draw, part)
    reason = f"{part.kind} has settled: {other.kind} with its constants"
    edits = [Edit(1.5, reason, put(place, other))]
    free = [name for name in ESCAPES if name in part.constants]
    if free:
        name = draw.pick(free)
        again = redrawn(part, name, toolbox, draw)
        edits.append(Edit(1.5, f"{part.kind} has settled: another {name}", put(place, again)))
    return edits
