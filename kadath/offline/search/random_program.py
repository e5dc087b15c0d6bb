"""The random strategy: a whole program at once, without looking at anything."""

from kadath.offline.search.constants import fresh
from kadath.offline.search.draw import Draw
from kadath.offline.search.program import Program, Stage
from kadath.offline.search.toolbox import Toolbox


def random_program(toolbox: Toolbox, draw: Draw) -> Program:
    """Any layout, one to most_stages stages, constants from their whole ranges, full budget."""
    count = 1 + draw.below(toolbox.most_stages)
    stages = [
        Stage(fresh(draw.pick(toolbox.stages), toolbox, draw), draw.between(0.1, 1.0))
        for _ in range(count)
    ]
    layout = fresh(draw.pick(toolbox.layouts), toolbox, draw)
    return Program(draw.below(10_000), layout, tuple(stages)).budgeted()
