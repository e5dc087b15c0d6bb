"""Birther: prompt variations for generation one, and children of an elite."""

from kadath.offline.demos import DEMOS, Demo, demo_of
from kadath.offline.request import Json
from kadath.offline.search.draw import Draw
from kadath.offline.search.program import problem_of
from kadath.offline.search.proposals import Change, Solver, child, unseen
from schemas.values.answers import Variants
from schemas.values.mutation import FileEdit, Mutation

SOLVER = "solver.py"
HABITS = (
    "Measure before you change anything.",
    "Change one thing at a time.",
    "Prefer a bold change to a careful one.",
    "Write down what failed, so that nobody tries it again.",
    "Look for the part that wastes most work.",
    "Keep what is simple and drop what gains nothing.",
    "Compare every result with the best one so far.",
    "Ask which constant the result depends on most.",
    "Start from what the best ones have in common.",
    "Save a valid answer first, then improve it.",
)


def variants(question: Json) -> Variants:
    """As many different prompts as were asked for; `first` makes batches differ."""
    first, count = int(question["first"]), int(question["count"])
    base = str(question["base_prompt"]).rstrip()
    return Variants(variations=tuple(_variant(base, first + k) for k in range(count)))


def mutation(question: Json) -> Mutation:
    """A child of the parent's solver; with strategy `random` a whole program of its own."""
    parent = question["parent"]
    source = parent["files"].get(SOLVER, "")
    demo = demo_of(str(question.get("objective", ""))) or DEMOS.get(problem_of(source) or "")
    if demo is None:
        return Mutation(action="unchanged", reason="no solver of a built-in demo to work on")
    change = _change(question, source, demo)
    if change is None:
        return Mutation(action="unchanged", reason="nothing new was found")
    edit = FileEdit(path=SOLVER, text=change.source)
    return Mutation(action="mutate", reason=change.reason, files=(edit,))


def _change(question: Json, source: str, demo: Demo) -> Change | None:
    tools, refused = demo.toolbox, _rejected(question)
    strategy = question.get("strategy") or {}
    draw = Draw(
        "birth", question["slot"], question["seed"], question.get("epoch"), len(refused), strategy
    )
    if strategy.get("name") == "random":
        return unseen(tools, refused, draw)
    elites = [
        Solver(elite["files"][SOLVER], elite.get("measured"))
        for elite in question.get("elites", [])
        if SOLVER in elite.get("files", {})
    ]
    parent = Solver(source, question["parent"].get("measured"))
    return child(parent, elites, tools, refused | {elite.source for elite in elites}, draw)


def _rejected(question: Json) -> set[str]:
    """Solver sources that were proposed before and refused."""
    return {
        str(file.get("text"))
        for item in question.get("rejected", [])
        for file in (item.get("mutation") or {}).get("files", [])
        if file.get("path") == SOLVER
    }


def _variant(base: str, index: int) -> str:
    number, rest = divmod(index, len(HABITS) * len(HABITS))
    one, two = divmod(rest, len(HABITS))
    lines = [HABITS[two], *([] if one == 0 else [HABITS[(two + one) % len(HABITS)]])]
    if number:
        lines.append(f"You are number {index}.")
    return "\n".join([base, "", *lines])[:4000]
