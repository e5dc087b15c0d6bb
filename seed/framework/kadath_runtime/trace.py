"""A line for every model step, and the decision whether there is a next one."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smolagents.memory import ActionStep

from kadath_runtime.records import append_line, clip

if TYPE_CHECKING:
    from kadath_runtime.body import Body

MAX_OBSERVATION, MAX_ERROR = 500, 300


class Trace:
    """Called by the agent after each step."""

    def __init__(self, path: Path, body: "Body"):
        self._path, self._body = path, body
        self._warned = False

    def __call__(self, step: ActionStep, agent: Any) -> None:
        if not isinstance(step, ActionStep):
            return
        append_line(self._path, self._line(step))
        # With nothing saved yet, the finalisation signal leaves one step to save something.
        if self._body.horizon.finalizing() and (self._body.candidates.was_saved or self._warned):
            agent.interrupt()
        self._warned = self._body.horizon.finalizing()
        self._body.begin_step(step.step_number + 1)

    def _line(self, step: ActionStep) -> dict[str, Any]:
        usage = step.token_usage
        return {
            "pass": self._body.model.pass_number,
            "step": step.step_number,
            "tools": list(self._body.dispatch.called),
            "tool_call_ids": [call.id for call in step.tool_calls or []],
            "observation": clip(step.observations or "", MAX_OBSERVATION),
            "error": clip(str(step.error), MAX_ERROR) if step.error else "",
            "tokens": [usage.input_tokens, usage.output_tokens] if usage else None,
            "at": time.time(),
        }
