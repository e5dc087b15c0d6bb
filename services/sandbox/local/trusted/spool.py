"""A folder of frozen contents, each under its SHA-256."""

import os

from . import wire

try:
    from _sha256 import sha256  # type: ignore[import-not-found]
except ImportError:  # Python 3.12 renamed it
    from hashlib import sha256

BLOCK = 1 << 20


class SpoolFailed(Exception):
    """The host's side cannot take the files: not the organism's fault, and not a rejection."""


class Spool:
    """Copies files into an open folder; equal contents and hard links are stored once."""

    def __init__(self, folder: int) -> None:
        self._folder = folder
        self._known: dict[int, tuple[int, str]] = {}

    def take(self, path: str, status: os.stat_result) -> tuple[int, str]:
        """Size and hash of a regular file, whose bytes are in the spool afterwards."""
        if status.st_nlink > 1 and status.st_ino in self._known:
            return self._known[status.st_ino]
        source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            taken = self._small(source) if status.st_size < BLOCK else self._large(source)
        finally:
            os.close(source)
        self._known[status.st_ino] = taken
        return taken

    def close(self) -> None:
        os.close(self._folder)

    def _small(self, source: int) -> tuple[int, str]:
        content = os.read(source, BLOCK)
        sha = sha256(content).hexdigest()
        if not self._has(sha):
            part = self._part()
            _write(part, content)
            self._place(part, sha)
        return len(content), sha

    def _large(self, source: int) -> tuple[int, str]:
        import hashlib  # OpenSSL: slow to load, quick by the megabyte

        hasher, size, part = hashlib.sha256(), 0, self._part()
        while chunk := os.read(source, BLOCK):
            hasher.update(chunk)
            size += len(chunk)
            _write(part, chunk)
        self._place(part, hasher.hexdigest())
        return size, hasher.hexdigest()

    def _has(self, sha: str) -> bool:
        try:
            os.stat(sha, dir_fd=self._folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def _part(self) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        try:
            return os.open(self._part_name(), flags, 0o644, dir_fd=self._folder)
        except OSError as error:
            raise SpoolFailed(error.strerror) from error

    def _place(self, part: int, sha: str) -> None:
        os.close(part)
        os.rename(self._part_name(), sha, src_dir_fd=self._folder, dst_dir_fd=self._folder)

    def _part_name(self) -> str:
        return f".part-{os.getpid()}"


def _write(fd: int, content: bytes) -> None:
    try:
        wire.write_all(fd, (content,))
    except OSError as error:
        raise SpoolFailed(error.strerror) from error
