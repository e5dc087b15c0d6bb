"""Preflight check "seed": the vendored framework and the starter files as the base tree."""

import asyncio
import hashlib
from pathlib import Path

from schemas import Draft, Event, Recorded, digest
from schemas.events.preflight import PreflightCheckFailed, PreflightCheckPassed
from schemas.values.tree import Tree, TreeFile
from seed.layer import FRAMEWORK
from services.kit.blobs import Blobs
from services.kit.engine import Context
from services.kit.trees import get_tree, put_tree
from services.lineage.core import mutation_rules, paths
from services.lineage.core.view import View
from services.lineage.effects import git

CHAMPION = ".champion/"  # files that make an export run by itself; no genome holds them


def due(view: View, recorded: Recorded) -> bool:
    return view.preflight_seq < recorded.seq


async def check(context: Context, recorded: Recorded) -> None:
    """Import the seed and say under which hash generation one will find it."""
    view: View = context.view(recorded.run)
    tree = await _base(context, view)
    problem = _problem(tree)
    answer: Event = PreflightCheckFailed(check="seed", reason=problem or "")
    if problem is None:
        stored = await put_tree(context.blobs, tree)
        target = git.repository(context, recorded.run)
        commit = await asyncio.to_thread(git.write_base, target, context.blobs, view, stored.sha256)
        found = {"seed_sha": stored.sha256, "base": commit.id}
        answer = PreflightCheckPassed(check="seed", resolved=found)

    await context.transact(
        recorded.run,
        "lineage/seed",
        lambda now_view, now: [Draft("lineage", answer)] if due(now_view, recorded) else [],
    )


async def _base(context: Context, view: View) -> Tree:
    files = {file.path: file for file in (await _framework(context)).files}
    if view.requested is not None and view.requested.starter is not None:
        starter = get_tree(context.blobs, view.requested.starter.sha256)
        files |= {
            file.path: TreeFile(**{**file.model_dump(), "mark": None})
            for file in starter.files
            if not file.path.startswith(CHAMPION)
        }
    return Tree(files=tuple(files[path] for path in sorted(files)))


async def _framework(context: Context) -> Tree:
    """The vendored seed, imported once for each of its contents."""
    contents = await asyncio.to_thread(_read, FRAMEWORK)
    key = _digest(contents)
    imported: dict[str, Tree] = context.resources.setdefault("seeds", {})
    if key not in imported:
        imported[key] = await _import(context.blobs, contents)
    return imported[key]


def _read(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts
    }


def _digest(contents: dict[str, bytes]) -> str:
    found = hashlib.sha256()
    for path, content in contents.items():
        found.update(f"{path}\0{len(content)}\0".encode() + content)
    return found.hexdigest()


async def _import(blobs: Blobs, contents: dict[str, bytes]) -> Tree:
    files = []
    for path, content in contents.items():
        await blobs.put(content, "application/octet-stream")
        files.append(TreeFile(path=path, size=len(content), sha256=digest(content)))
    return Tree(files=tuple(files))


def _problem(tree: Tree) -> str | None:
    """A starter tree comes from a user: the same path rules as for any mutation."""
    names = [file.path for file in tree.files]
    for path in names:
        found = paths.violation(path)
        if found:
            return f"{ascii(path)[:300]} {found}"
    missing = [path for path in mutation_rules.REQUIRED if path not in names]
    if missing:
        return f"the seed has no {missing[0]}"
    blocked = mutation_rules.collision(names)
    return f"{blocked} would be a file and a folder" if blocked else None
