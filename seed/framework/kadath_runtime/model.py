"""The organism's model: chat completions through the gateway, retried while there is time."""

import random
import time
from typing import Any

from smolagents.models import ChatMessage, MessageRole, Model, remove_content_after_stop_sequences
from smolagents.monitoring import TokenUsage

from kadath_runtime.gateway import Gateway, Reply, Unreachable
from kadath_runtime.horizon import Horizon
from kadath_runtime.records import clip, plain

MAX_ANSWER_CHARS = 400_000
CALL_SECONDS = 600.0
FIRST_WAIT, LONGEST_WAIT = 0.25, 20.0
TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504, 529})


class ModelFailed(Exception):
    """The model cannot be had: `kind` says whether money, time or a refusal is the reason."""

    kind = "refused"


class BudgetExhausted(ModelFailed):
    kind = "budget"


class OutOfTime(ModelFailed):
    kind = "unavailable"


class GatewayModel(Model):
    """A smolagents model over plain HTTP; says which phase, pass and step a call serves."""

    def __init__(self, model_id: str, gateway: Gateway, horizon: Horizon, phase: str):
        super().__init__(model_id=model_id, flatten_messages_as_text=True)
        self._gateway, self._horizon = gateway, horizon
        self.phase, self.pass_number, self.step_number = phase, 1, 1
        self.answered = 0

    def generate(
        self,
        messages: list[Any],
        stop_sequences: list[str] | None = None,
        response_format: dict[str, Any] | None = None,
        tools_to_call_from: list[Any] | None = None,
        **kwargs: Any,
    ) -> ChatMessage:
        request = self._prepare_completion_kwargs(
            messages, stop_sequences, response_format, tools_to_call_from, **kwargs
        )
        request |= {"model": self.model_id, "metadata": self._metadata()}
        body = self._completed(request)
        self.answered += 1
        text = _content(body)
        reported = body.get("usage")
        usage = reported if isinstance(reported, dict) else {}
        return ChatMessage(
            role=MessageRole.ASSISTANT,
            content=remove_content_after_stop_sequences(text, stop_sequences),
            token_usage=TokenUsage(
                _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
            ),
        )

    def _metadata(self) -> dict[str, str]:
        return {"phase": self.phase, "pass": str(self.pass_number), "step": str(self.step_number)}

    def _completed(self, request: dict[str, Any]) -> dict[str, Any]:
        wait = FIRST_WAIT
        while True:
            trouble, retry_after = self._attempt(request)
            if isinstance(trouble, dict):
                return trouble
            pause = max(retry_after or 0.0, wait * random.uniform(0.5, 1.0))
            if self._horizon.finalizing() or pause >= self._horizon.seconds_left():
                raise OutOfTime(f"no answer before the time is up; last trouble: {trouble}")
            time.sleep(pause)
            wait = min(LONGEST_WAIT, wait * 2)

    def _attempt(self, request: dict[str, Any]) -> tuple[dict[str, Any] | str, float | None]:
        timeout = min(CALL_SECONDS, self._horizon.seconds_left())
        try:
            reply = self._gateway.request("POST", "/v1/chat/completions", request, timeout)
        except Unreachable as error:
            return str(error), None
        if reply.status == 200 and isinstance(reply.body, dict) and reply.body.get("choices"):
            return reply.body, None
        _raise_if_permanent(reply)
        return f"status {reply.status}: {clip(str(reply.body), 300)}", reply.retry_after


def _raise_if_permanent(reply: Reply) -> None:
    error = reply.body.get("error") if isinstance(reply.body, dict) else None
    kind = error.get("type") if isinstance(error, dict) else None
    if reply.status == 429 and kind == "budget_exhausted":
        raise BudgetExhausted("the budget of this attempt is used up")
    if reply.status != 200 and reply.status not in TRANSIENT:
        raise ModelFailed(f"status {reply.status}: {clip(str(reply.body), 300)}")


def _content(body: dict[str, Any]) -> str:
    """The answer's text, whatever shape it has; an answer without text is an empty one."""
    choice = body["choices"][0] if isinstance(body["choices"], list) else None
    message = choice.get("message") if isinstance(choice, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    text = clip(plain(content), MAX_ANSWER_CHARS) if isinstance(content, str) else ""
    return text.replace("```py\n", "```python\n")


def _count(usage: dict[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and value >= 0 else 0
