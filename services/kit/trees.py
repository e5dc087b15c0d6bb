"""File trees in the blob store: stored from a folder or from edits, laid out once per hash."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from schemas import TreeRef, canonical, digest, ref_of
from schemas.values.tree import Tree, TreeFile
from services.kit.blobs import Blobs

TREE_MEDIA = "application/vnd.kadath.tree+json"


async def put_folder(blobs: Blobs, folder: Path) -> tuple[TreeRef, Tree]:
    """Store every regular file under `folder`; links and caches are left out."""
    contents = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts
    }
    return await put_files(blobs, contents)


async def put_files(blobs: Blobs, contents: Mapping[str, bytes]) -> tuple[TreeRef, Tree]:
    """Store a mapping of path to content as a tree."""
    files = []
    for path, content in sorted(contents.items()):
        await blobs.put(content, "application/octet-stream")
        files.append(TreeFile(path=path, size=len(content), sha256=digest(content)))
    tree = Tree(files=tuple(files))
    return await put_tree(blobs, tree), tree


async def put_tree(blobs: Blobs, tree: Tree) -> TreeRef:
    content = canonical(tree)
    await blobs.put(content, TREE_MEDIA)
    return tree_ref(content)


def tree_ref(content: bytes) -> TreeRef:
    return TreeRef(**ref_of(content, TREE_MEDIA).model_dump())


def get_tree(blobs: Blobs, sha256: str) -> Tree:
    return Tree.model_validate_json(blobs.read(sha256))


def lay_out(blobs: Blobs, sha256: str, cache: Path) -> Path:
    """The tree as a read-only folder under `cache`, made once: hard links to the blobs.

    A file with the executable bit is copied, since links share their mode.
    """
    target = cache / sha256
    if target.exists():
        return target
    cache.mkdir(parents=True, exist_ok=True, mode=0o755)
    temporary = Path(tempfile.mkdtemp(prefix=f".{sha256}.", dir=cache))
    temporary.chmod(0o755)
    for file in get_tree(blobs, sha256).files:
        _lay_file(blobs, file, temporary / file.path)
    try:
        os.rename(temporary, target)
    except OSError:  # somebody else was faster; the content is the same
        shutil.rmtree(temporary, ignore_errors=True)
    return target


def _lay_file(blobs: Blobs, file: TreeFile, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    source = blobs.path(file.sha256)
    if file.executable:
        shutil.copyfile(source, target)
        os.chmod(target, 0o755)
        return
    try:
        os.link(source, target)
    except OSError:  # another file system, or too many links
        shutil.copyfile(source, target)
