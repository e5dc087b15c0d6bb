"""The organism's agent: a CodeAgent with our prompt, folded history and no forced last call."""

from collections.abc import Callable
from typing import Any

from smolagents.agents import CodeAgent
from smolagents.memory import ActionStep
from smolagents.models import ChatMessage, MessageRole
from smolagents.monitoring import LogLevel
from smolagents.utils import AgentMaxStepsError

from kadath_runtime.records import clip

FOLDED = "[{} earlier turns are left out here; their variables and files still exist.]"

# smolagents wants every template; the two that are used here hold no logic.
TEMPLATES: dict[str, Any] = {
    "system_prompt": "{{ custom_instructions }}",
    "planning": {
        "initial_plan": "",
        "update_plan_pre_messages": "",
        "update_plan_post_messages": "",
    },
    "managed_agent": {"task": "", "report": ""},
    "final_answer": {"pre_messages": "", "post_messages": ""},
}


class OrganismAgent(CodeAgent):
    """One fresh context; `live` gives the state that is shown after the last turn."""

    def __init__(self, *, history: int, turn: int, live: Callable[[], str], **kwargs: Any):
        self._history, self._turn, self._live = history, turn, live
        super().__init__(
            prompt_templates=TEMPLATES,  # type: ignore[arg-type]
            code_block_tags="markdown",
            verbosity_level=LogLevel.OFF,
            **kwargs,
        )

    def write_memory_to_messages(self, summary_mode: bool = False) -> list[ChatMessage]:
        head = self.memory.system_prompt.to_messages(summary_mode)
        turns = []
        for step in self.memory.steps:
            if isinstance(step, ActionStep):
                turns.append(
                    [self._short(message) for message in step.to_messages() if _is_shown(message)]
                )
            else:
                head += step.to_messages(summary_mode)
        return [*head, *fold(turns, self._history), _message(MessageRole.USER, self._live())]

    def _short(self, message: ChatMessage) -> ChatMessage:
        return _message(message.role, clip(_text(message), self._turn))

    def _handle_max_steps_reached(self, task: str) -> Any:
        """No extra model call for a summary: what was saved is the answer."""
        last = self.memory.steps[-1]
        if isinstance(last, ActionStep) and last.error is None:
            last.error = AgentMaxStepsError("Reached max steps.", self.logger)
        return None


def fold(turns: list[list[ChatMessage]], limit: int) -> list[ChatMessage]:
    """Whole turns, the newest stay; a quarter more goes at once: the prefix then lasts a while."""
    sizes = [sum(len(_text(message)) for message in turn) for turn in turns]
    if sum(sizes) <= limit or len(turns) <= 1:
        return [message for turn in turns for message in turn]
    dropped, kept = 0, sum(sizes)
    while kept > limit * 3 // 4 and dropped < len(turns) - 1:
        kept -= sizes[dropped]
        dropped += 1
    rest = [message for turn in turns[dropped:] for message in turn]
    return [_message(MessageRole.USER, FOLDED.format(dropped)), *rest]


def _is_shown(message: ChatMessage) -> bool:
    # The tool-call message repeats the code that the answer before it holds.
    return message.role != MessageRole.TOOL_CALL


def _text(message: ChatMessage) -> str:
    return str(message.content[0]["text"])  # type: ignore[index]


def _message(role: MessageRole, text: str) -> ChatMessage:
    return ChatMessage(role=role, content=[{"type": "text", "text": text}])
