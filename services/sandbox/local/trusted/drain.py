"""Reads what an organism prints. Memory is bounded, and after a flood so is the CPU spent."""

import fcntl
import os

CHUNK = 1 << 18
FLOOD = 64 << 20
PIPE_BYTES = 1 << 20


class Drain:
    """One stream: its head (`tail` false) or its end is kept, up to `limit` bytes."""

    def __init__(self, limit: int, tail: bool) -> None:
        self.limit, self._tail = limit, tail
        self.read, self.write = os.pipe()
        os.set_blocking(self.read, False)
        self._kept: list[bytes] = []
        self._held = 0
        self.total = 0
        self.ended = False
        self._null = -1

    def start(self) -> None:
        """The sandbox has its end: close ours, or the stream would never end."""
        os.close(self.write)

    def take(self) -> None:
        """Read what is there now."""
        if self.total >= FLOOD or (not self._tail and self._held >= self.limit):
            self._discard()
            return
        try:
            chunk = os.read(self.read, CHUNK)
        except BlockingIOError:
            return
        self._keep(chunk)

    def content(self) -> bytes:
        """The bytes that were kept."""
        joined = b"".join(self._kept)
        if not self._tail:
            return joined[: self.limit]
        return joined[max(0, len(joined) - self.limit) :]

    def truncated(self) -> bool:
        return self.total > self.limit

    def _keep(self, chunk: bytes) -> None:
        self.ended = not chunk
        self.total += len(chunk)
        self._kept.append(chunk)
        self._held += len(chunk)
        if self.total == len(chunk):
            return
        if len(chunk) == CHUNK or self._held > 4 * CHUNK:
            self._widen()
        while self._tail and self._held - len(self._kept[0]) >= self.limit:
            self._held -= len(self._kept.pop(0))

    def _widen(self) -> None:
        try:  # fewer wake-ups for a stream that is worth it
            fcntl.fcntl(self.read, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except (OSError, AttributeError):
            pass

    def _discard(self) -> None:
        if self._null < 0:
            self._widen()
            self._null = os.open("/dev/null", os.O_WRONLY)
        try:
            moved = os.splice(self.read, self._null, PIPE_BYTES)
        except BlockingIOError:
            return
        self.ended = moved == 0
        self.total += moved


def printable(content: bytes) -> bytes:
    """Valid UTF-8 without control characters but tab and newline."""
    text = content.decode("utf-8", "replace")
    controls = {code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), *range(127, 160))}
    del controls[9], controls[10]
    return text.translate(controls).encode()
