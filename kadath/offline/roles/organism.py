"""Organism: code that runs the genome's own solver and saves what it found, in one reply."""

from kadath.offline.request import Request

RUN = "python3 /genome/solver.py --task /input/task.json"

ATTEMPT = f'''
import json

run = run_command("{RUN}", timeout_seconds=60)
try:
    found = json.loads(run["stdout"])
except ValueError:
    found = {{"answer": None, "value": None}}
save_candidate(found)
gained = [
    f"{{stage['name']}} {{stage['before']}} -> {{stage['after']}} in {{stage['ticks']}} ticks"
    for stage in found.get("stages", [])
]
log_activity(
    "Ran solver.py with the benchmark's seed.",
    outcome=f"value {{found['value']}}" if found["answer"] else run["stderr"][-500:],
    next_step="change the stage that gained least",
    strategy="; ".join(gained)[:1000],
)
final_answer(found["value"])
'''


def attempt(request: Request) -> str:
    """The same code in every step: the result depends on the genome and the benchmark's seed."""
    return reply("I run my solver once, save its answer and log what each stage gained.", ATTEMPT)


def trial() -> str:
    """A smoke test needs no work."""
    return reply("I am started.", '\nfinal_answer("started")\n')


def reply(thought: str, code: str) -> str:
    """A CodeAgent's turn: a thought and one fenced block of code."""
    return f"Thought: {thought}\n```python\n{code.strip()}\n```\n"
