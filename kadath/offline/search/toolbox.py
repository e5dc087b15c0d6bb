"""What a demo gives the search: parts as source text, and what their constants may be."""

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from kadath.offline.search.part import Part


@dataclass(frozen=True)
class Bounds:
    """The values a constant may take.

    `count` is a whole number of any magnitude, `rows` a tuple of them with a fixed total.
    """

    low: float
    high: float
    kind: Literal["log", "linear", "int", "count", "rows"] = "log"
    total: int = 0


@dataclass(frozen=True)
class Toolbox:
    """The parts and bounds of one problem; starter is a complete plain program.

    An heirloom is a layout whose constant `rows` is the verified answer of an ancestor's run;
    `leaving` weighs the edit that starts from another layout instead. `exploring` is the share
    of changes that put new stages together instead of editing those that are there.
    """

    problem: str
    imports: str
    docstring: str
    starter: str
    parts_source: str
    bounds: dict[str, Bounds]
    most_stages: int = 4
    heirloom: str | None = None
    leaving: float = 0.2
    exploring: float = 0.35

    @cached_property
    def parts(self) -> dict[str, Part]:
        tree = ast.parse(self.starter + self.parts_source)
        defs = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        return {node.name: Part(node) for node in defs}

    @cached_property
    def layouts(self) -> tuple[str, ...]:
        names = (name for name in self.parts if name.startswith("layout_"))
        return tuple(sorted(name for name in names if name != self.heirloom))

    @cached_property
    def stages(self) -> tuple[str, ...]:
        return tuple(sorted(name for name in self.parts if name.startswith("stage_")))
