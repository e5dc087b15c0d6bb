"""The parts of sorting networks and the ranges of their constants."""

from pathlib import Path

from kadath.offline.search.toolbox import Bounds, Toolbox

HERE = Path(__file__).parent

BOUNDS = {
    "many": Bounds(1, 16, "count"),
    "far": Bounds(1, 20, "count"),
    "drop": Bounds(0.0, 1.0, "linear"),
    "keep": Bounds(0.0, 0.95, "linear"),
    "fresh": Bounds(0, 12, "int"),
    "times": Bounds(1, 16, "count"),
    "width": Bounds(1, 8, "count"),
    "early": Bounds(0.02, 1.0, "linear"),
}

TOOLBOX = Toolbox(
    problem="sorting_network",
    imports="from harness import WIRES, completed, main, useful",
    docstring="Builds a sorting network of few comparators: a layout, then stages that shorten it.",
    starter=(HERE / "starter" / "solver.py").read_text(encoding="utf-8"),
    parts_source=(HERE / "parts.py").read_text(encoding="utf-8"),
    bounds=BOUNDS,
    heirloom="layout_found",
    leaving=0.02,
    exploring=0.4,
)
