"""The text a model is shown: a stable prefix first, then goal, checkpoint, turns, live state last.

Bounded whatever memory or progress hold. Cut first: old turns, memory, progress; then goal and
criterion, beyond their own generous limits only; the instructions last.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kadath_runtime.records import clip, plain
from kadath_runtime.task import Task
from kadath_runtime.toolbox import FunctionTool

CHARS_PER_TOKEN = 4
DEFAULT_TOKENS = 24_000
COMPACT_BELOW_TOKENS = 6000

RULES = """Answer with a short thought and exactly one block of Python, fenced as in the example. \
It is run, and you see what it prints and the value of its last expression; then you go on. \
Variables, functions and imports last from block to block. Any module of the standard library can \
be imported. The tools below are plain functions: call them with arguments, never import them. \
A failed tool raises ToolError. Finish with final_answer(value). If your answer has a number you \
measured yourself, pass final_answer({{"summary": "...", "provisional": number}}), where \
{direction} is better: the best pass counts.

Example:
Thought: I look at my files before I change anything.
```python
print(list_workspace())
print(run_command("python3 --version")["stdout"])
```"""

REFLECTION = """This is the reflection phase: the epoch is over, nothing you do now is graded. \
Improve the program you are made of. Read the facts with read_context(), your own source with \
list_repository() and read_repository_file(path), and what better agents do differently with \
list_elite(agent) and read_elite_file(agent, path). Then call propose_mutation once and \
final_answer. Propose one change that the facts speak for; keep what works. A proposal is \
complete file contents. Never copy logs or measured answers into a prompt."""


@dataclass(frozen=True)
class Shape:
    """How long each part of a prompt may be, in characters."""

    compact: bool
    instructions: int
    goal: int
    criterion: int
    progress: int
    memory: int
    history: int
    turn: int


def shape(limits: dict[str, Any]) -> Shape:
    """From the model's token budget (`limits.prompt_tokens`): a small one gets the compact form."""
    tokens = max(1500, int(limits.get("prompt_tokens") or DEFAULT_TOKENS))
    chars = tokens * CHARS_PER_TOKEN
    return Shape(
        compact=tokens < COMPACT_BELOW_TOKENS,
        instructions=chars // 4,
        goal=min(16_000, chars // 8),
        criterion=min(16_000, chars // 8),
        progress=min(4000, chars // 16),
        memory=min(4000, chars // 16),
        history=chars * 5 // 16,
        turn=min(20_000, chars // 8),
    )


def system(instructions: str, tools: dict[str, FunctionTool], task: Task, form: Shape) -> str:
    """Instructions, rules, tool documentation: the same text in every call of an attempt."""
    direction = "larger" if task.higher_is_better else "smaller"
    phase = [REFLECTION] if task.purpose == "reflection" else []
    documentation = "\n".join(_documented(tool, form.compact) for tool in tools.values())
    parts = [clip(plain(instructions.strip()), form.instructions), *phase]
    return "\n\n".join([*parts, RULES.format(direction=direction), "Tools:\n" + documentation])


def assignment(task: Task, progress: str, memories: Iterable[dict[str, Any]], form: Shape) -> str:
    """What to do and what is known: goal, criterion, checkpoint, memory."""
    sections = [
        ("Goal", clip(task.goal, form.goal)),
        ("Objective", clip(task.objective if task.objective != task.goal else "", form.goal)),
        ("Criterion", clip(task.criterion, form.criterion)),
        ("Progress so far", clip(progress, form.progress)),
        (
            "Memory, best first",
            clip("\n".join(_remembered(item) for item in memories), form.memory),
        ),
    ]
    return plain("\n\n".join(f"## {title}\n{text}" for title, text in sections if text.strip()))


def live(
    levels: Mapping[str, str], pass_number: int, step: int, steps: int, finalizing: bool
) -> str:
    """The one part that changes at each step. No clock reading: equal work gives equal requests."""
    budget = ", ".join(f"{name} {value}" for name, value in levels.items())
    last = "\nTime is up: save your best answer now and call final_answer." if finalizing else ""
    return f"[Pass {pass_number}, step {step} of {steps}. Budget: {budget}.]{last}"


def _documented(tool: FunctionTool, compact: bool) -> str:
    if compact:
        return f"- {tool.signature()}: {clip(tool.description.split('. ')[0], 120)}"
    arguments = (f"\n    {name}: {value['description']}" for name, value in tool.inputs.items())
    return f"- {tool.signature()}: {tool.description}{''.join(arguments)}"


def _remembered(record: dict[str, Any]) -> str:
    scope, name, summary = (str(record.get(key, "")) for key in ("scope", "record", "summary"))
    return f"- ({scope} {name}) {clip(summary, 400)}"
