"""Reflection: the first reply shows solvers and facts, the second proposes a mutation of them.

The code runs in the sandbox and the search here, so what is shown travels in the conversation:
compressed, because observations are clipped and solvers have much in common.
"""

import base64
import json
import re
import zlib

from kadath.offline.demos import DEMOS
from kadath.offline.request import Json, Request
from kadath.offline.roles.organism import reply
from kadath.offline.search.draw import Draw
from kadath.offline.search.program import problem_of
from kadath.offline.search.proposals import Change, Solver, adapted

MAX_SHOWN_BYTES = 1_000_000

LOOK = """
import base64, json, zlib

context = read_context()
elites = context["elites"][:2]
shown = {
    "agent": context["agent"],
    "seed": context["seed"],
    "own": {"source": read_repository_file("solver.py"), "measured": context.get("measured")},
    "elites": [
        {
            "source": read_elite_file(elite["agent"], "solver.py"),
            "measured": elite.get("measured"),
        }
        for elite in elites
    ],
}
packed = base64.b64encode(zlib.compress(json.dumps(shown).encode(), 9)).decode()
print(f"rank {context['rank']}, score {context['score']}; elites:")
print([(elite["agent"], elite["score"]) for elite in elites])
print("<shown>" + packed + "</shown>")
"""

KEEP = """
propose_mutation(action="unchanged", reason={reason!r})
final_answer("unchanged")
"""

PROPOSE = """
propose_mutation(
    action="mutate",
    reason={reason!r},
    files={{"solver.py": {source}}},
)
final_answer("proposed")
"""


def reflect(request: Request) -> str:
    """Look until something was shown; then propose, another change for every earlier reply."""
    shown = _shown(request)
    replies = sum(message.role == "assistant" for message in request.messages)
    if shown is None and replies == 0:
        return reply("I look at my own solver, at the elites' and at what was measured.", LOOK)
    if shown is None:
        return _keep("neither my solver nor the elites' could be read")
    change = _change(shown, replies)
    if change is None:
        return _keep("nothing new was found")
    code = PROPOSE.format(reason=change.reason, source=_literal(change.source))
    return reply(f"I change my solver: {change.reason}.", code)


def adaptation(shown: Json, turn: int) -> Change | None:
    """The change of a middle agent, from what its first reply printed."""
    own = Solver(shown["own"]["source"], shown["own"].get("measured"))
    demo = DEMOS.get(problem_of(own.source) or "")
    if demo is None:
        return None
    elites = [Solver(elite["source"], elite.get("measured")) for elite in shown["elites"]]
    draw = Draw("reflection", shown["agent"], shown["seed"], own.source, turn)
    return adapted(own, elites, demo.toolbox, {elite.source for elite in elites}, draw)


def _change(shown: Json, turn: int) -> Change | None:
    try:
        return adaptation(shown, turn)
    except (KeyError, TypeError, AttributeError):
        return None


def _shown(request: Request) -> Json | None:
    """What a reply's code printed, from the newest message that holds it whole."""
    for message in reversed(request.messages):
        if message.role == "assistant":
            continue
        for packed in re.findall(r"<shown>([A-Za-z0-9+/=]+)</shown>", message.text):
            if found := _unpacked(packed):
                return found
    return None


def _unpacked(packed: str) -> Json | None:
    try:
        stream = zlib.decompressobj()
        content = stream.decompress(base64.b64decode(packed), MAX_SHOWN_BYTES)
        found = json.loads(content)
    except (ValueError, zlib.error):
        return None
    return found if isinstance(found, dict) else None


def _keep(reason: str) -> str:
    return reply("I keep my solver.", KEEP.format(reason=reason))


def _literal(source: str) -> str:
    """The source as a readable string literal; an unusual one as its representation."""
    plain = "'''" not in source and "\\" not in source and not source.endswith("'")
    return f"'''{source}'''" if plain and "```" not in source else repr(source)
