"""Freezes what an organism left: files into the spool by their hash, everything else refused.

Every name and every byte here is hostile. Nothing lives in the sandbox any more, so nothing
changes under the walk; still no link is ever followed and nothing but a regular file is opened.
"""

from __future__ import annotations

import os
import stat

from .copying import listing
from .space import Space

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` would take 6 ms to load
    from typing import Any

DEPTH = 48
PATH_BYTES = 1024
REJECTIONS = 1000
OPAQUE = "user.overlay.opaque"
KINDS = {
    stat.S_IFLNK: "symbolic link",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFBLK: "device",
    stat.S_IFCHR: "device",
}


def freeze(space: Space, limits: dict[str, Any], spool: Any) -> dict[str, Any]:
    """The report of the freeze as plain data: files, deleted, rejected, omitted.

    `spool` has the methods of `Spool`.
    """
    return _Freeze(space, limits, spool).run()


class _Freeze:
    def __init__(self, space: Space, limits: dict[str, Any], spool: Any) -> None:
        assert space.upper is not None
        self._root, self._lower, self._baseline = (space.upper, space.lower, space.baseline)
        self._spool = spool
        self._file_limit = int(limits["file_mb"]) << 20
        self._left = int(limits["evidence_mb"]) << 20
        self._files: list[list[Any]] = []
        self._present: set[str] = set()
        self._gone: set[str] = set()
        self._rejected: list[list[str]] = []
        self._omitted = 0

    def run(self) -> dict[str, Any]:
        waiting: list[tuple[str, int]] = [("", 0)]
        while waiting:
            waiting += self._folder(*waiting.pop())
        if self._baseline is not None:
            self._gone = self._baseline.keys() - self._present
        self._spool.close()
        return {
            "files": sorted(self._files),
            "deleted": sorted(self._gone - self._present),
            "rejected": sorted(self._rejected),
            "omitted": self._omitted,
        }

    def _folder(self, path: str, depth: int) -> list[tuple[str, int]]:
        full = f"{self._root}/{path}"
        if path and _is_opaque(full):
            self._hide(path.rstrip("/"))
        below = []
        try:
            with os.scandir(full) as entries:
                for entry in sorted(entries, key=lambda entry: os.fsencode(entry.name)):
                    if entry.is_dir(follow_symlinks=False):
                        below += self._descend(path + entry.name, depth + 1)
                    else:
                        self._entry(path + entry.name, entry.stat(follow_symlinks=False))
        except OSError as error:
            self._reject(path, f"unreadable: {error.strerror}")
        return below[::-1]

    def _descend(self, path: str, depth: int) -> list[tuple[str, int]]:
        flaw = "too deep" if depth > DEPTH else _flaw(path)
        if flaw:
            self._reject(path, flaw)
            return []
        if self._lower_is(path, stat.S_ISREG):
            self._gone.add(path)
        return [(path + "/", depth)]

    def _entry(self, path: str, status: os.stat_result) -> None:
        flaw = _flaw(path)
        if flaw:
            self._reject(path, flaw)
            return
        if self._baseline is not None and self._unchanged(path, status):
            return
        if not stat.S_ISREG(status.st_mode):
            self._special(path, status)
            return
        if self._lower_is(path, stat.S_ISDIR):
            self._hide(path)
        reason = self._keep(path, status)
        if reason:  # the inherited version must not come back in its place
            self._present.discard(path)
            self._hide(path)
            self._reject(path, reason)

    def _unchanged(self, path: str, status: os.stat_result) -> bool:
        assert self._baseline is not None
        self._present.add(path)
        return self._baseline.get(path) == (status.st_ino, status.st_ctime_ns)

    def _special(self, path: str, status: os.stat_result) -> None:
        self._hide(path)
        overlay = self._lower is not None and self._baseline is None
        if overlay and stat.S_ISCHR(status.st_mode) and status.st_rdev == 0:
            return
        self._present.discard(path)
        self._reject(path, KINDS.get(stat.S_IFMT(status.st_mode), "unknown kind"))

    def _keep(self, path: str, status: os.stat_result) -> str | None:
        """Take a regular file; or say why not."""
        size = status.st_size
        if size > self._file_limit:
            return f"larger than {self._file_limit >> 20} MiB"
        if size > (status.st_blocks << 9) + (1 << 20):
            return "sparse"
        if size > self._left:
            return "over the limit of all evidence"
        try:
            size, sha = self._spool.take(f"{self._root}/{path}", status)
        except OSError as error:
            return f"unreadable: {error.strerror}"
        self._left -= size
        self._present.add(path)
        executable = bool(status.st_mode & 0o100)
        mark = "modified" if self._was_there(path) else "new"
        self._files.append([path, size, sha, executable, mark])
        return None

    def _was_there(self, path: str) -> bool:
        if self._baseline is not None:
            return path in self._baseline
        return self._lower_is(path, stat.S_ISREG)

    def _lower_is(self, path: str, kind: Any) -> bool:
        if self._lower is None or self._baseline is not None:
            return False
        try:
            return bool(kind(os.lstat(f"{self._lower}/{path}").st_mode))
        except OSError:
            return False

    def _hide(self, path: str) -> None:
        """Inherited files at and under a path are gone unless the walk finds them in the upper."""
        if self._lower is not None and self._baseline is None:
            self._gone.update(listing(self._lower, path))

    def _reject(self, path: str, reason: str) -> None:
        if len(self._rejected) < REJECTIONS:
            self._rejected.append([_escaped(path)[:4096], reason])
        else:
            self._omitted += 1


def _is_opaque(path: str) -> bool:
    try:
        return os.getxattr(path, OPAQUE, follow_symlinks=False) == b"y"
    except OSError:
        return False


def _flaw(path: str) -> str | None:
    name = path.rpartition("/")[2]
    if len(os.fsencode(path)) > PATH_BYTES:
        return "path too long"
    if name.isascii():
        return None if name.isprintable() else "control character in the name"
    return _foreign_flaw(name)


def _foreign_flaw(name: str) -> str | None:
    import unicodedata

    try:
        name.encode()
    except UnicodeEncodeError:
        return "name is not UTF-8"
    if not name.isprintable():
        return "control character in the name"
    return None if unicodedata.is_normalized("NFC", name) else "name is not in Unicode's form NFC"


def _escaped(path: str) -> str:
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
