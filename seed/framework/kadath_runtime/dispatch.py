"""The one guarded, metered way from model-written code to a tool."""

import inspect
import json
from collections.abc import Callable
from typing import Any

from kadath_runtime.records import clean, clip

MAX_CALLS_PER_STEP = 200
MAX_RESULT_CHARS = 8_000_000


class Dispatch:
    """Knows which tools exist, counts their calls, turns every failure into a message."""

    def __init__(self, tools: dict[str, Callable[..., Any]]):
        self._tools = tools
        self.called: list[str] = []

    def begin_step(self) -> None:
        self.called = []

    def __call__(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """`{"result": ...}` or `{"error": ...}`; arguments are cleaned, results bounded."""
        tool = self._tools.get(name)
        if tool is None:
            known = ", ".join(sorted(self._tools))
            return {"error": f"there is no tool {name!r} in this phase; there are {known}"}
        if len(self.called) >= MAX_CALLS_PER_STEP:
            return {"error": f"more than {MAX_CALLS_PER_STEP} tool calls in one step"}
        self.called.append(name)
        try:
            bound = inspect.signature(tool).bind(*clean(args), **clean(kwargs))
            result = clean(tool(*bound.args, **bound.kwargs))
        except Exception as error:
            # The child waits for a reply: whatever went wrong is one.
            return {"error": clip(f"{name}: {_reason(error)}", 1000)}
        if len(json.dumps(result)) > MAX_RESULT_CHARS:
            return {"error": f"{name}: the result is too large"}
        return {"result": result}


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
