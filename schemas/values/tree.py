"""A file tree as data: what a `TreeRef` points at. Paths are relative, POSIX, NFC, no `..`."""

from typing import Literal

from schemas.base import Value
from schemas.refs import Sha256

Mark = Literal["new", "modified", "inherited"]


class TreeFile(Value):
    """One regular file. `mark` says how it relates to the state the attempt began with."""

    path: str
    size: int
    sha256: Sha256
    executable: bool = False
    mark: Mark | None = None


class Tree(Value):
    """Files sorted by path; `deleted` lists inherited paths that the attempt removed."""

    files: tuple[TreeFile, ...]
    deleted: tuple[str, ...] = ()


class Rejected(Value):
    """A path that is not evidence, and why (link, fifo, socket, device, too deep, too large...)."""

    path: str
    reason: str
