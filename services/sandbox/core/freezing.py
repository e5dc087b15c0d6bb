"""Which of the files in a state are evidence, which are inherited, and how a state goes on."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from schemas.values.tree import Tree, TreeFile

TRANSIENT = frozenset(
    {
        "result.json",
        "mutation.json",
        "candidate.json",
        "activity.jsonl",
        "step-trace.jsonl",
        "finalize",
        "crash.json",
    }  # fmt: skip
)
TRANSIENT_FOLDERS = ("workers/", "checkpoints/")
CANDIDATE_BYTES = 5 * 1024 * 1024


class Split(NamedTuple):
    """`evidence`: everything, marked. `state`: what the next epoch starts from."""

    evidence: Tree
    state: Tree


def split(before: Tree, files: Sequence[TreeFile], deleted: Sequence[str]) -> Split:
    """Lay what changed over what was inherited; every file keeps its mark."""
    changed = {file.path: file for file in files}
    gone = set(deleted)
    kept = [
        file.model_copy(update={"mark": "inherited"})
        for file in before.files
        if file.path not in changed and file.path not in gone
    ]
    everything = tuple(sorted([*kept, *changed.values()], key=lambda file: file.path))
    lasting = tuple(
        file.model_copy(update={"mark": None}) for file in everything if not transient(file.path)
    )
    return Split(Tree(files=everything, deleted=tuple(sorted(gone))), Tree(files=lasting))


def transient(path: str) -> bool:
    """What a descendant must not inherit: results, proposals, traces of one attempt."""
    return path in TRANSIENT or path.startswith(TRANSIENT_FOLDERS)


def find(files: Sequence[TreeFile], path: str) -> TreeFile | None:
    """The file at `path` if this attempt wrote it."""
    return next((f for f in files if f.path == path and f.mark != "inherited"), None)


def valid_result(content: bytes) -> bool:
    """The organism's own envelope: an object that says it is done."""
    found = parsed(content)
    return isinstance(found, dict) and found.get("status") == "done"


def valid_candidate(content: bytes) -> bool:
    """Any JSON value that says something: not null, not empty."""
    return len(content) <= CANDIDATE_BYTES and parsed(content) not in (None, "", [], {})


def valid_object(content: bytes) -> bool:
    return isinstance(parsed(content), dict)


def parsed(content: bytes) -> object:
    try:
        found: object = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return found


def activity_lines(content: bytes) -> int:
    """Lines that are JSON objects; a broken line counts as none and stops nothing."""
    return sum(isinstance(parsed(line), dict) for line in content.splitlines()[:10_000])
