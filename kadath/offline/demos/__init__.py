"""The built-in demos: goals that the offline model can really work on."""

from kadath.offline.demos.circle_packing import benchmark as circles
from kadath.offline.demos.circle_packing.toolbox import TOOLBOX as CIRCLE_TOOLS
from kadath.offline.demos.demo import Demo
from kadath.offline.demos.sorting_network import benchmark as sorting
from kadath.offline.demos.sorting_network.toolbox import TOOLBOX as SORTING_TOOLS

DEMOS: dict[str, Demo] = {
    "circle_packing": Demo(
        name="circle_packing",
        goal=circles.GOAL,
        published_best=circles.PUBLISHED_BEST,
        higher_is_better=True,
        toolbox=CIRCLE_TOOLS,
        benchmark=circles.benchmark,
    ),
    "sorting_network": Demo(
        name="sorting_network",
        goal=sorting.GOAL,
        published_best=float(sorting.PROVED_BEST),
        higher_is_better=False,
        toolbox=SORTING_TOOLS,
        benchmark=sorting.benchmark,
    ),
}


def demo_of(goal: str) -> Demo | None:
    """The demo with this goal or name; case and white space do not matter."""
    wanted = _plain(goal)
    for demo in DEMOS.values():
        if wanted in (_plain(demo.goal), _plain(demo.name), _plain(demo.name.replace("_", " "))):
            return demo
    return None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .")
