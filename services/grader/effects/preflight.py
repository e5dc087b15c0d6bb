"""The grader's own check before a run: can it judge by this benchmark at all?"""

from schemas import Draft, Recorded
from schemas.events.preflight import PreflightCheckFailed, PreflightCheckPassed
from schemas.events.run import RunPreflightRequested
from schemas.values.benchmark import Benchmark
from services.grader.core.view import View
from services.kit.engine import Context


def due(view: View, recorded: Recorded) -> bool:
    return view.locked is None and view.preflight == recorded.data


async def check(context: Context, recorded: Recorded) -> None:
    """The benchmark can be read, and nothing in it needs a connector we do not have."""
    requested = recorded.data
    assert isinstance(requested, RunPreflightRequested)
    event: PreflightCheckPassed | PreflightCheckFailed
    try:
        benchmark = Benchmark.model_validate_json(context.blobs.get(requested.benchmark))
        event = PreflightCheckPassed(check="benchmark", detail=benchmark.metric[:500])
    except (KeyError, ValueError) as error:
        event = PreflightCheckFailed(check="benchmark", reason=str(error)[:2000])
    await context.transact(
        recorded.run, "grader/preflight", lambda view, now: [Draft("grader", event)]
    )
