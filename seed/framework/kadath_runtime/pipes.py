"""Bounded reading from what model-written code writes into: it may flood, stall or lie."""

import os
import selectors
import time

CHUNK = 65536


class Tail:
    """The first and the last of a stream, never more than `limit` bytes of it."""

    def __init__(self, limit: int, head: int = 0):
        self._limit, self._head_limit = limit, head
        self._head, self._tail = bytearray(), bytearray()
        self.total = 0

    def add(self, content: bytes) -> None:
        self.total += len(content)
        room = self._head_limit - len(self._head)
        self._head += content[:room] if room > 0 else b""
        self._tail += content[max(0, room) :]
        # Cut rarely, so that a flood costs no more than its length.
        if len(self._tail) > 4 * self._limit:
            del self._tail[: -self._limit]

    @property
    def truncated(self) -> bool:
        return self.total > self._limit

    def text(self) -> str:
        keep = self._limit - len(self._head)
        cut = len(self._tail) > keep
        tail = bytes(self._tail[-keep:]) if cut else bytes(self._tail)
        middle = b"\n[... output left out ...]\n" if cut and self._head else b""
        return (bytes(self._head) + middle + tail).decode("utf-8", "replace")


def take(fd: int) -> bytes | None:
    """What a non-blocking descriptor holds now; b"" at its end, None when it holds nothing."""
    try:
        return os.read(fd, CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def ready(fds: list[int], seconds: float) -> list[int]:
    """Those of `fds` that can be read within `seconds`."""
    with selectors.DefaultSelector() as selector:
        for fd in fds:
            selector.register(fd, selectors.EVENT_READ)
        return [key.fd for key, _ in selector.select(max(0.0, seconds))]


def write_all(fd: int, content: bytes, seconds: float) -> None:
    """Write everything to a non-blocking descriptor, or `TimeoutError`: nobody may be reading."""
    view, end = memoryview(content), time.monotonic() + seconds
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            _wait_writable(fd, end - time.monotonic())


def _wait_writable(fd: int, seconds: float) -> None:
    with selectors.DefaultSelector() as selector:
        selector.register(fd, selectors.EVENT_WRITE)
        if seconds <= 0 or not selector.select(seconds):
            raise TimeoutError("the interpreter does not read")
