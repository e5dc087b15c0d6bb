"""A folder that no path can leave: relative, without `..`, and never through a link.

This process holds the token, and the folder is written by model-written code: a link to
/proc/self/environ or a FIFO must neither be read nor block. So every component is opened by itself,
without following, and only regular files are read.
"""

import fnmatch
import os
import stat
from collections.abc import Iterator
from pathlib import Path

MAX_NAMES = 1000
MAX_WALK = 50_000
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class OutOfBounds(ValueError):
    """The path, the size or the kind of file is not allowed here."""


class Folder:
    """Bounded reading, writing and listing below one root."""

    def __init__(self, root: Path, max_bytes: int, hidden: frozenset[str] = frozenset()):
        self._root, self._max_bytes, self._hidden = root, max_bytes, hidden

    def read(self, path: str) -> str:
        """The text of a regular file; bytes that are not UTF-8 are replaced."""
        *folders, name = self._parts(path)
        parent = self._open_folder(folders)
        try:
            with os.fdopen(os.open(name, READ, dir_fd=parent), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise OutOfBounds(f"{path!r} is not a regular file")
                content = file.read(self._max_bytes + 1)
        finally:
            os.close(parent)
        if len(content) > self._max_bytes:
            raise OutOfBounds(f"{path!r} is larger than {self._max_bytes} bytes")
        return content.decode("utf-8", "replace")

    def write(self, path: str, text: str) -> int:
        """Replace the file by `text`, making folders as needed; the number of bytes written."""
        content = text.encode("utf-8", "replace")
        if len(content) > self._max_bytes:
            raise OutOfBounds(f"the text has {len(content)} bytes, {self._max_bytes} are allowed")
        *folders, name = self._parts(path)
        parent = self._open_folder(folders, create=True)
        try:
            temporary = f".{name[:200]}.tmp"
            _remove(temporary, parent)
            with os.fdopen(os.open(temporary, WRITE, 0o644, dir_fd=parent), "wb") as file:
                file.write(content)
            os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
        finally:
            os.close(parent)
        return len(content)

    def delete(self, path: str) -> None:
        """Remove one file or link, never a folder."""
        *folders, name = self._parts(path)
        parent = self._open_folder(folders)
        try:
            os.unlink(name, dir_fd=parent)
        finally:
            os.close(parent)

    def names(self, pattern: str) -> list[str]:
        """Sorted paths of regular files that match, at most 1,000."""
        wanted = (path for path in self._walk() if _matches(path, pattern))
        return sorted(path for path, _ in zip(wanted, range(MAX_NAMES), strict=False))

    def _walk(self) -> Iterator[str]:
        seen = 0
        for folder, folders, names in os.walk(self._root):
            folders[:] = sorted(name for name in folders if name not in self._hidden)
            seen += len(names) + len(folders)
            if seen > MAX_WALK:
                return
            for name in sorted(names):
                full = os.path.join(folder, name)
                if not os.path.islink(full) and os.path.isfile(full):
                    yield os.path.relpath(full, self._root)

    def _parts(self, path: str) -> list[str]:
        if not isinstance(path, str) or not path or "\0" in path or len(path) > 1000:
            raise OutOfBounds("a path is a text of 1 to 1000 characters")
        parts = [part for part in path.split("/") if part != "."]
        if path.startswith("/") or ".." in parts or "" in parts or not parts:
            raise OutOfBounds(f"{path!r} must be relative and stay inside the folder")
        if self._hidden & set(parts):
            raise OutOfBounds(f"{path!r} is not open to you")
        return parts

    def _open_folder(self, parts: list[str], create: bool = False) -> int:
        at = os.open(self._root, DIRECTORY)
        for part in parts:
            try:
                if create:
                    _make(part, at)
                below = os.open(part, DIRECTORY, dir_fd=at)
            finally:
                os.close(at)
            at = below
        return at


def _make(name: str, parent: int) -> None:
    try:
        os.mkdir(name, 0o755, dir_fd=parent)
    except FileExistsError:
        pass


def _remove(name: str, parent: int) -> None:
    try:
        os.unlink(name, dir_fd=parent)
    except FileNotFoundError:
        pass


def _matches(path: str, pattern: str) -> bool:
    if pattern in ("", ".", "*", "**", "**/*"):
        return pattern != "*" or "/" not in path
    pattern = pattern.removeprefix("./")
    anywhere = pattern.removeprefix("**/")
    return (
        fnmatch.fnmatchcase(path, pattern)
        or fnmatch.fnmatchcase(path, anywhere)
        or path.startswith(pattern.rstrip("/") + "/")
    )
