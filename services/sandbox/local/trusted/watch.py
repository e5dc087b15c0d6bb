"""Waits for the end of a sandbox and brings it about in time: deadline, memory, stop."""

from __future__ import annotations

import os
import select
import time
from _signal import SIGKILL, pidfd_send_signal  # type: ignore[import-not-found]

from . import memory, wire
from .cgroups import Cgroups
from .drain import Drain
from .space import Space

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` would take 6 ms to load
    from typing import Any

GONE = "kernel gone"
SAMPLE_SECONDS = 0.1
AFTERMATH_SECONDS = 2.0


class Watch:
    """One sandbox from its start to the end of its last process."""

    def __init__(self, request: dict[str, Any], space: Space, control: int, gone: int) -> None:
        self._request, self._space, self._control, self._gone = request, space, control, gone
        self.stdout = Drain(int(request["stdout_limit"]), tail=False)
        self.stderr = Drain(int(request["limits"]["log_kb"]) << 10, tail=True)
        self.status, self.status_write = os.pipe()
        os.set_blocking(self.status, False)
        self._said = b""
        self._init = -1
        self._init_pid = 0
        self.reason: str | None = None
        self.exit_code: int | None = None
        self.cpu_seconds = 0.0
        self._poller = select.poll()

    def run(self, pid: int, groups: Cgroups | None) -> None:
        """Until bubblewrap and everything inside have ended."""
        self._begin()
        bwrap = os.pidfd_open(pid)
        self._poller.register(bwrap, select.POLLIN)
        clock = _Clock(self._request, sampling=groups is None)
        ready: set[int] = set()
        while bwrap not in ready:
            ready = {fd for fd, _ in self._poller.poll(clock.wait_ms())}
            self._read(ready)
            self._act(clock, bwrap)
        self.exit_code = self._reap(pid)
        self._finish()

    def _begin(self) -> None:
        for drain in (self.stdout, self.stderr):
            drain.start()
            self._poller.register(drain.read, select.POLLIN)
        os.close(self.status_write)
        self._poller.register(self.status, select.POLLIN)
        for fd in (self._control, self._gone):
            self._poller.register(fd, select.POLLIN)

    def _read(self, ready: set[int]) -> None:
        for drain in (self.stdout, self.stderr):
            if drain.read in ready:
                drain.take()
                if drain.ended:
                    self._poller.unregister(drain.read)
        if self.status in ready:
            self._read_status()
        if self._control in ready:
            self.reason = "stopped" if os.read(self._control, 1) else GONE
        if self._gone in ready:
            self.reason = GONE

    def _read_status(self) -> None:
        try:
            chunk = os.read(self.status, 4096)
        except BlockingIOError:
            return
        if not chunk:
            self._poller.unregister(self.status)
        self._said += chunk
        if not self._init_pid and b"\n" in self._said:
            self._init_pid = int(_said(self._said, "child-pid") or 0)
            try:
                self._init = os.pidfd_open(self._init_pid)
            except ProcessLookupError:
                pass

    def _act(self, clock: _Clock, bwrap: int) -> None:
        now = time.monotonic()
        if clock.finalize_due(now):
            os.close(os.open(f"{self._space.base}/signals/finalize", os.O_CREAT | os.O_WRONLY))
        if clock.deadline_due(now):
            self.reason = self.reason or "deadline"
        if clock.sample_due(now) and self._init_pid:
            self._sample(clock)
        if self.reason is not None:
            for target in (self._init, bwrap):
                _kill(target)

    def _sample(self, clock: _Clock) -> None:
        limit = int(self._request["limits"]["memory_mb"]) << 20
        if memory.resident_bytes(self._init_pid) + self._space.used_bytes() > limit:
            self.reason = self.reason or "oom"
        clock.sampled()

    def _reap(self, pid: int) -> int:
        _, status, usage = os.wait4(pid, 0)
        self.cpu_seconds += usage.ru_utime + usage.ru_stime
        return os.waitstatus_to_exitcode(status)

    def _finish(self) -> None:
        """Nothing may live on: kill what is left, wait for it, take its last words."""
        until = time.monotonic() + AFTERMATH_SECONDS
        for pid in _children():
            self._end(pid)
        for drain in (self.stdout, self.stderr):
            while not drain.ended and time.monotonic() < until:
                select.select([drain.read], [], [], 0.05)
                drain.take()
        self._said += _rest(self.status)

    def _end(self, pid: int) -> None:
        """The namespace's first process is our child by now; its usage holds everyone's.

        Bubblewrap killed too early leaves it without a death signal: it has to be ended here.
        """
        pidfd = os.pidfd_open(pid)
        _kill(pidfd)
        end = select.poll()
        end.register(pidfd, select.POLLIN)
        if end.poll(AFTERMATH_SECONDS * 1000):
            self._reap(pid)
        os.close(pidfd)

    def started(self) -> bool:
        """The organism's command was reached: else bubblewrap failed before."""
        return _said(self._said, "exit-code") is not None or self.reason is not None


class _Clock:
    """Due times on the monotonic clock, from those of the request."""

    def __init__(self, request: dict[str, Any], sampling: bool) -> None:
        now, wall = time.monotonic(), time.time()
        self._finalize: float | None = now + request["finalize_at"] - wall
        self._deadline = now + request["deadline_at"] - wall
        self._sample = now + SAMPLE_SECONDS if sampling else None
        self._sample_began = now

    def wait_ms(self) -> float:
        due = [at for at in (self._finalize, self._deadline, self._sample) if at is not None]
        return max(0.0, min(due) - time.monotonic()) * 1000 + 1

    def finalize_due(self, now: float) -> bool:
        due = self._finalize is not None and now >= self._finalize
        if due:
            self._finalize = None
        return due

    def deadline_due(self, now: float) -> bool:
        return bool(now >= self._deadline)

    def sample_due(self, now: float) -> bool:
        self._sample_began = now
        return self._sample is not None and now >= self._sample

    def sampled(self) -> None:
        """Many processes take long to sum up: never spend more than a twentieth of the time."""
        now = time.monotonic()
        self._sample = now + max(SAMPLE_SECONDS, 20 * (now - self._sample_began))


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def _kill(pidfd: int) -> None:
    if pidfd >= 0:
        try:
            pidfd_send_signal(pidfd, SIGKILL)
        except ProcessLookupError:
            pass


def _said(lines: bytes, key: str) -> int | None:
    for line in lines.splitlines():
        document = wire.decode(line.decode()) if line.endswith(b"}") else {}
        if key in document:
            return int(document[key])
    return None


def _rest(fd: int) -> bytes:
    try:
        return wire.read_all(fd)
    except BlockingIOError:
        return b""
