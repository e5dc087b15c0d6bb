"""The identity of a genome, and the git objects it is made of: pure, so an audit can repeat it."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from schemas import canonical, digest

AUTHOR = b"KADATH <lineage@kadath.invalid> 0 +0000"
FILE, EXECUTABLE, FOLDER = b"100644", b"100755", b"40000"


class Entry(NamedTuple):
    """A file as git sees it: `blob` is the id of its content."""

    path: str
    blob: str
    executable: bool = False


class GitObject(NamedTuple):
    id: str
    kind: str
    content: bytes


class GitTree(NamedTuple):
    """A root tree and every tree object below it."""

    id: str
    objects: tuple[GitObject, ...]


def identity(tree: str, prompt_sha: str, runtime_sha: str) -> str:
    """The genome id. No run, no history, no machine: equal content is the same genome."""
    return digest(canonical({"tree": tree, "prompt_sha": prompt_sha, "runtime_sha": runtime_sha}))


def git_object(kind: str, content: bytes) -> GitObject:
    header = f"{kind} {len(content)}\0".encode()
    return GitObject(hashlib.sha1(header + content).hexdigest(), kind, content)


def blob_id(content: bytes) -> str:
    return git_object("blob", content).id


def git_tree(entries: Iterable[Entry]) -> GitTree:
    """Build the nested tree objects of a flat list of files."""
    root: dict[str, object] = {}
    for entry in entries:
        *folders, name = entry.path.split("/")
        place = root
        for folder in folders:
            place = place.setdefault(folder, {})  # type: ignore[assignment]
        place[name] = entry
    objects: list[GitObject] = []
    return GitTree(_written(root, objects), tuple(objects))


def _written(folder: Mapping[str, object], objects: list[GitObject]) -> str:
    lines = []
    for name, item in folder.items():
        raw = name.encode()
        if isinstance(item, Entry):
            mode = EXECUTABLE if item.executable else FILE
            lines.append((raw, mode, item.blob))
        elif isinstance(item, dict):
            lines.append((raw + b"/", FOLDER, _written(item, objects)))
    lines.sort()  # git orders a folder as if its name ended in a slash
    content = b"".join(
        mode + b" " + name.rstrip(b"/") + b"\0" + bytes.fromhex(oid) for name, mode, oid in lines
    )
    made = git_object("tree", content)
    objects.append(made)
    return made.id


def git_commit(tree: str, parent: str | None, message: str) -> GitObject:
    """Fixed author and time, so that the same content has the same commit id on every machine."""
    lines = [f"tree {tree}".encode()]
    if parent is not None:
        lines.append(f"parent {parent}".encode())
    lines += [b"author " + AUTHOR, b"committer " + AUTHOR, b"", message.encode() + b"\n"]
    return git_object("commit", b"\n".join(lines))
