"""The smallest genome that takes part in everything: one model call, one candidate, no thinking."""

from kadath.offline.demos import DEMOS
from schemas import TreeRef
from services.kit import trees
from services.kit.blobs import Blobs

ORGANISM = '''\
"""Asks the model once, answers bubble sort, and in a reflection adds a comment to itself."""

import json
import os
import urllib.request

task = json.load(open(os.environ["KADATH_TASK"]))
body = {
    "model": task["model"],
    "messages": [{"role": "user", "content": "Say anything."}],
    "metadata": {"phase": task["purpose"], "pass": "1", "step": "1"},
}
headers = {
    "Authorization": "Bearer " + os.environ["KADATH_TOKEN"],
    "Content-Type": "application/json",
}
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)).read()

WIRES = 10
bubbles = [[k, k + 1] for end in range(WIRES - 1, 0, -1) for k in range(end)]
json.dump({"answer": bubbles, "value": len(bubbles)}, open("/state/candidate.json", "w"))
if task["purpose"] == "reflection":
    own = open("/genome/organism.py").read() + "# " + task["attempt"] + "\\n"
    edit = {"path": "organism.py", "text": own}
    proposal = {"action": "mutate", "reason": "a comment", "files": [edit]}
    json.dump(proposal, open("/state/mutation.json", "w"))
done = {"status": "done", "summary": "", "provisional": None, "passes": 1, "best_pass": 1}
json.dump(done, open("/state/result.json", "w"))
'''


async def starter(blobs: Blobs) -> TreeRef:
    """The sorting demo's starter files with a trivial organism in the seed's place."""
    contents = {path: text.encode() for path, text in DEMOS["sorting_network"].starter.items()}
    ref, _ = await trees.put_files(blobs, contents | {"organism.py": ORGANISM.encode()})
    return ref
