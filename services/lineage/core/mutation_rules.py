"""A mutation applied to its parent's complete tree. A violation is an answer, never an error."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from schemas import digest
from schemas.events.genome import Change, RejectReason
from schemas.values.mutation import MAX_CONTENT_BYTES, MAX_OPERATIONS, MAX_PROMPT_BYTES, Mutation
from schemas.values.tree import Tree, TreeFile
from services.lineage.core import paths

PROMPT = "SYSTEM_PROMPT.md"
ENTRY = "organism.py"
REQUIRED = (ENTRY, PROMPT)
MAX_PATHS_BYTES = 16 * 1024  # every path stands in the event, which holds 64 KiB


class Refusal(NamedTuple):
    reason: RejectReason
    detail: str


class Applied(NamedTuple):
    """The child's tree. `contents` are the new bytes by SHA-256."""

    tree: Tree
    contents: Mapping[str, bytes]
    changed: tuple[Change, ...]
    touches_code: bool


def apply(parent: Tree, mutation: Mutation) -> Applied | Refusal:
    """The tree that `mutation` makes of `parent`, or why it makes none."""
    return _sizes(mutation) or _paths(mutation) or _twice(mutation) or _edit(parent, mutation)


def is_code(path: str) -> bool:
    """Anything that is not prose may change what runs."""
    return not path.endswith(".md")


def changes(before: Iterable[TreeFile], after: Iterable[TreeFile]) -> tuple[Change, ...]:
    """What differs, sorted by path."""
    old, new = {f.path: f for f in before}, {f.path: f for f in after}
    found = []
    for path in sorted(old.keys() | new.keys()):
        if path not in new:
            found.append(Change(path=path, change="deleted", size=0))
        elif path not in old:
            found.append(Change(path=path, change="added", size=new[path].size))
        elif old[path].sha256 != new[path].sha256:
            found.append(Change(path=path, change="modified", size=new[path].size))
    return tuple(found)


def collision(names: Iterable[str]) -> str | None:
    """A file that stands where another path needs a folder, or None."""
    files = set(names)
    for path in sorted(files):
        parts = path.split("/")
        for depth in range(1, len(parts)):
            if "/".join(parts[:depth]) in files:
                return "/".join(parts[:depth])
    return None


def _sizes(mutation: Mutation) -> Refusal | None:
    operations = len(mutation.files) + len(mutation.delete) + (mutation.prompt is not None)
    if operations > MAX_OPERATIONS:
        return Refusal("too_large", f"{operations} operations, the limit is {MAX_OPERATIONS}")
    names = [*(edit.path for edit in mutation.files), *mutation.delete]
    if sum(len(name.encode(errors="replace")) for name in names) > MAX_PATHS_BYTES:
        return Refusal("too_large", f"the paths have more than {MAX_PATHS_BYTES} bytes")
    return None


def _paths(mutation: Mutation) -> Refusal | None:
    for path in (*(edit.path for edit in mutation.files), *mutation.delete):
        problem = paths.violation(path)
        if problem:
            return Refusal("unsafe_path", f"{ascii(path)[:300]} {problem}")
    return None


def _twice(mutation: Mutation) -> Refusal | None:
    written = [edit.path for edit in mutation.files]
    both = (set(written) & set(mutation.delete)) or {p for p in written if written.count(p) > 1}
    if both:
        return Refusal("invalid", f"{min(both)} is written twice, or written and deleted")
    if mutation.prompt is not None and PROMPT in {*written, *mutation.delete}:
        return Refusal("invalid", f"both `prompt` and an edit of {PROMPT}: use one of them")
    return None


def _edit(parent: Tree, mutation: Mutation) -> Applied | Refusal:
    written = _contents(mutation)
    if isinstance(written, Refusal):
        return written
    files = {file.path: file for file in parent.files}
    gone = _deleted(files, mutation.delete)
    if isinstance(gone, Refusal):
        return gone
    kept = {path: file for path, file in files.items() if path not in gone}
    for path, content in written.items():
        old = files.get(path)
        kept[path] = TreeFile(
            path=path,
            size=len(content),
            sha256=digest(content),
            executable=old.executable if old else False,
        )
    return _checked(parent, kept, written)


def _contents(mutation: Mutation) -> dict[str, bytes] | Refusal:
    texts = {edit.path: edit.text for edit in mutation.files}
    if mutation.prompt is not None:
        texts[PROMPT] = mutation.prompt
    try:
        contents = {path: text.encode() for path, text in texts.items()}
    except UnicodeEncodeError:
        return Refusal("invalid", "a text holds a lone surrogate")
    if sum(map(len, contents.values())) > MAX_CONTENT_BYTES:
        return Refusal("too_large", f"more than {MAX_CONTENT_BYTES} bytes of content")
    prompt = contents.get(PROMPT)
    if prompt is not None and len(prompt) > MAX_PROMPT_BYTES:
        return Refusal("too_large", f"the prompt has more than {MAX_PROMPT_BYTES} bytes")
    if prompt is not None and not prompt.strip():
        return Refusal("invalid", "the prompt is blank")
    return contents


def _deleted(files: Mapping[str, TreeFile], delete: Iterable[str]) -> set[str] | Refusal:
    gone = set(delete)
    for path in sorted(gone - files.keys()):
        if any(name.startswith(f"{path}/") for name in files):
            return Refusal("unsafe_path", f"{path} is a folder: name the files to delete")
    for path in REQUIRED:
        if path in gone:
            return Refusal("invalid", f"{path} may be replaced, not deleted")
    return gone


def _checked(
    parent: Tree, files: Mapping[str, TreeFile], written: Mapping[str, bytes]
) -> Applied | Refusal:
    blocked = collision(files)
    if blocked is not None:
        return Refusal("unsafe_path", f"{blocked} would be a file and a folder")
    ordered = tuple(files[path] for path in sorted(files))
    changed = changes(parent.files, ordered)
    if not changed:
        return Refusal("no_change", "the tree is the parent's own")
    contents = {digest(content): content for content in written.values()}
    code = any(is_code(change.path) for change in changed)
    return Applied(Tree(files=ordered), contents, changed, code)
