"""A genome's files and differences, as inert text."""

import difflib
from typing import Any

from schemas.values.tree import Tree, TreeFile
from services.kit.blobs import Blobs
from services.kit.trees import get_tree
from services.lineage.core.mutation_rules import changes

MAX_TEXT_BYTES = 1 << 20


def listing(blobs: Blobs, tree_sha: str, path: str | None) -> dict[str, Any] | None:
    """The listing, or one file with its text; None when it has no such file."""
    tree = get_tree(blobs, tree_sha)
    if path is None:
        return {"files": [_line(file) for file in tree.files]}
    found = next((file for file in tree.files if file.path == path), None)
    return None if found is None else {**_line(found), "text": _text(blobs, found)}


def diff(blobs: Blobs, before_sha: str, after_sha: str) -> list[dict[str, Any]]:
    """What changed between two trees, file by file, as unified diffs."""
    before, after = _by_path(get_tree(blobs, before_sha)), _by_path(get_tree(blobs, after_sha))
    return [
        {
            "path": change.path,
            "change": change.change,
            "diff": _unified(blobs, change.path, before.get(change.path), after.get(change.path)),
        }
        for change in changes(before.values(), after.values())
    ]


def _unified(blobs: Blobs, path: str, before: TreeFile | None, after: TreeFile | None) -> str:
    old, new = (_text(blobs, f).splitlines(keepends=True) if f else [] for f in (before, after))
    names = (f"a/{path}" if before else "/dev/null", f"b/{path}" if after else "/dev/null")
    lines = difflib.unified_diff(old, new, *names)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _by_path(tree: Tree) -> dict[str, TreeFile]:
    return {file.path: file for file in tree.files}


def _line(file: TreeFile) -> dict[str, Any]:
    return {"path": file.path, "size": file.size, "sha256": file.sha256}


def _text(blobs: Blobs, file: TreeFile) -> str:
    return blobs.read(file.sha256)[:MAX_TEXT_BYTES].decode(errors="replace")
