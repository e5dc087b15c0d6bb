"""The parts of circle packing and the ranges of their constants."""

from pathlib import Path

from kadath.offline.search.toolbox import Bounds, Toolbox

HERE = Path(__file__).parent

BOUNDS = {
    "counts": Bounds(2, 8, "rows", total=26),
    "shift": Bounds(-0.5, 0.5, "linear"),
    "draws": Bounds(1, 12, "int"),
    "outer": Bounds(10, 24, "int"),
    "thick": Bounds(0.08, 0.4),
    "step": Bounds(0.0005, 0.5),
    "cool": Bounds(0.0, 1.0, "linear"),
    "heat": Bounds(0.00001, 0.05),
    "places": Bounds(1, 60, "int"),
    "among": Bounds(1, 13, "int"),
    "keep": Bounds(0.1, 0.99, "linear"),
    "wobble": Bounds(0.0005, 0.3),
    "kick": Bounds(0.001, 1.0),
    "length": Bounds(3, 1000, "count"),
    "swell": Bounds(0.00001, 0.1),
    "push": Bounds(0.005, 2.0),
    "give": Bounds(0.002, 2.0),
    "fade": Bounds(0.0, 1.0, "linear"),
}

TOOLBOX = Toolbox(
    problem="circle_packing",
    imports="from harness import CIRCLES, PRESS, main",
    docstring="Packs circles into the unit square: a layout, then stages that improve it.",
    starter=(HERE / "starter" / "solver.py").read_text(encoding="utf-8"),
    parts_source=(HERE / "parts.py").read_text(encoding="utf-8"),
    bounds=BOUNDS,
    heirloom="layout_found",
)
