"""Choosing constants: afresh within their bounds, or near the value they have."""

from kadath.offline.search.draw import Draw
from kadath.offline.search.part import Constant, Part
from kadath.offline.search.toolbox import Bounds, Toolbox


def fresh(name: str, toolbox: Toolbox, draw: Draw, teacher: Part | None = None) -> Part:
    """A part of the toolbox with every constant drawn from its whole range.

    What it has in common with a teacher, a part that proved useful, it mostly takes over.
    """
    part = toolbox.parts[name]
    known = teacher.constants if teacher else {}
    for constant in part.constants:
        if constant in known and draw.chance(0.95):
            part = part.having(constant, known[constant])
        elif constant in toolbox.bounds:
            part = part.having(constant, _anywhere(toolbox.bounds[constant], draw))
    return part


def taught(part: Part, teacher: Part) -> Part:
    """The part with every constant that it shares with the teacher taken over."""
    for name, value in teacher.constants.items():
        if name in part.constants:
            part = part.having(name, value)
    return part


def tuned(part: Part, toolbox: Toolbox, draw: Draw) -> Part:
    """The part with one of its constants moved, a little or far; itself when it has none."""
    names = [name for name in part.constants if name in toolbox.bounds]
    if not names:
        return part
    return scaled(part, draw.pick(names), toolbox, draw, draw.blur(draw.pick((0.15, 0.5, 1.2))))


def redrawn(part: Part, name: str, toolbox: Toolbox, draw: Draw) -> Part:
    """The part with one constant drawn from its whole range."""
    return part.having(name, _anywhere(toolbox.bounds[name], draw))


def scaled(part: Part, name: str, toolbox: Toolbox, draw: Draw, factor: float) -> Part:
    """The part with one constant moved by a factor, within its bounds."""
    bounds, value = toolbox.bounds[name], part.constants[name]
    return part.having(name, _near(value, factor, bounds, draw))


def _anywhere(bounds: Bounds, draw: Draw) -> Constant:
    match bounds.kind:
        case "log":
            return _short(draw.magnitude(bounds.low, bounds.high))
        case "linear":
            return _short(draw.between(bounds.low, bounds.high))
        case "int":
            return int(bounds.low) + draw.below(int(bounds.high - bounds.low) + 1)
        case "count":
            return round(draw.magnitude(bounds.low, bounds.high))
        case "rows":
            return _rows(bounds, draw)


def _near(value: Constant, factor: float, bounds: Bounds, draw: Draw) -> Constant:
    if isinstance(value, tuple):
        return _shifted([int(row) for row in value if isinstance(row, int)], draw)
    if bounds.kind in ("int", "count"):
        near = round(value * factor)
        near += (1 if factor > 1 else -1) if near == value else 0
        return int(min(bounds.high, max(bounds.low, near)))
    if bounds.kind == "linear":
        near_value = value + (factor - 1.0) * (bounds.high - bounds.low) / 2.0
        return _short(min(bounds.high, max(bounds.low, near_value)))
    return _short(min(bounds.high, max(bounds.low, value * factor)))


def _rows(bounds: Bounds, draw: Draw) -> tuple[int, ...]:
    rows: list[int] = []
    while sum(rows) < bounds.total:
        row = int(bounds.low) + draw.below(int(bounds.high - bounds.low) + 1)
        rows.append(min(row, bounds.total - sum(rows)))
    return tuple(rows)


def _shifted(rows: list[int], draw: Draw) -> tuple[int, ...]:
    """One unit from a row to another (or to a new one): the total stays."""
    giver, taker = draw.below(len(rows)), draw.below(len(rows) + 1)
    changed = [*rows, 0]
    changed[giver] -= 1
    changed[taker] += 1
    return tuple(row for row in changed if row)


def _short(value: float) -> float:
    return float(f"{value:.4g}")
