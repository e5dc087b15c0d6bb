"""Architect: the benchmark of a built-in demo, or a refusal."""

from kadath.offline.demos import DEMOS, demo_of
from kadath.offline.request import Json
from kadath.offline.roles.refusal import unsupported_goal
from schemas.values.benchmark import Benchmark

UNREAD = "The wishes in the notes were not considered: the offline model cannot read them."


def benchmark(question: Json) -> Benchmark:
    """The demo's benchmark; wishes for a revision become a limitation, honestly."""
    demo = demo_of(str(question["goal"]))
    if demo is None:
        raise unsupported_goal([demo.goal for demo in DEMOS.values()])
    drafted = demo.benchmark()
    if not question.get("notes"):
        return drafted
    return drafted.model_copy(update={"limitations": (*drafted.limitations, UNREAD)})
