"""The outer process. As root it becomes two: this one keeps the cgroups, the worker drops root.

It ends when the worker ends, or when the kernel does: the kernel holds the other end of the
control pipe, and its death closes it.
"""

from __future__ import annotations

import os
import select
import sys
from _signal import (  # type: ignore[import-not-found]
    SIG_DFL,
    SIGKILL,
    SIGTERM,
    signal,
)

from . import cgroups, kernel, wire, worker

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` would take 6 ms to load
    from collections.abc import Callable
    from typing import NoReturn

REPORT = 1
WORKER_SECONDS = 1.0


def main() -> NoReturn:
    """Read the request, run the attempt, exit."""
    control, label = int(sys.argv[1]), sys.argv[2]
    kernel_pid = int(sys.argv[3])
    os.set_inheritable(control, False)
    gone, tell = os.pipe()
    signal(SIGTERM, lambda *_: os.write(tell, b"t"))  # raising here could cut the cleaning short
    kernel.die_with_parent(kernel_pid, SIGTERM)
    if os.geteuid() != 0:
        attempt(worker.Links(control, gone, label))
    supervise(control, label, gone)


def attempt(links: worker.Links, before: Callable[[], None] | None = None) -> NoReturn:
    """The worker's life: the request in, a report out, whatever happens."""
    try:
        if before is not None:
            before()
        request, blobs = wire.unpack(wire.read_all(0))
        report, contents = worker.run(request, blobs, links)
    except worker.KernelGone:
        os._exit(1)
    except BaseException as error:  # noqa: BLE001 (told to the kernel)
        report, contents = worker.failure(f"{type(error).__name__}: {error}"), []
    wire.write_all(REPORT, wire.pack(report, contents))
    os._exit(0)


def supervise(control: int, label: str, gone: int) -> NoReturn:
    """Keep the cgroups while the worker lives; kill it when the kernel is gone."""
    request = wire.decode(_first_line())
    wanted = request["cgroups"]
    groups = None if wanted == "none" else cgroups.create(label, request["limits"])
    if wanted == "must" and groups is None:  # they were there at the probe: no silent loss
        wire.write_all(REPORT, wire.pack(worker.failure("the cgroups cannot be made"), []))
        os._exit(0)
    pid = 0
    try:
        spool = os.open(request["spool"], os.O_RDONLY | os.O_DIRECTORY)
        monitor = os.getpid()
        pid = os.fork()
        if pid == 0:
            links = worker.Links(control, gone, label, groups, spool)
            attempt(links, lambda: drop(request["user"], monitor))
        _await(pid, control, gone)
    finally:
        if pid:
            _kill(pid)
        if groups is not None:
            groups.remove()
    os._exit(0)


def drop(user: list[int], monitor: int) -> None:
    """Become the sandbox user for good."""
    signal(SIGTERM, SIG_DFL)
    uid, gid = user
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    kernel.stay_dumpable()
    kernel.die_with_parent(monitor, SIGKILL)


def _first_line() -> str:
    """The header only, and the offset back to the start: the worker reads it all itself."""
    head = b""
    while b"\n" not in head:
        chunk = os.read(0, 1 << 16)
        if not chunk:
            break
        head += chunk
    os.lseek(0, 0, os.SEEK_SET)
    return head.partition(b"\n")[0].decode()


def _await(pid: int, control: int, gone: int) -> None:
    worker_end = os.pidfd_open(pid)
    poller = select.poll()
    poller.register(worker_end, select.POLLIN)
    poller.register(control, 0)  # a hang-up is told without asking
    poller.register(gone, select.POLLIN)
    if worker_end not in [fd for fd, _ in poller.poll()]:
        poller.unregister(control)
        poller.unregister(gone)
        poller.poll(WORKER_SECONDS * 1000)  # it sees the same and cleans up; then by force
    os.close(worker_end)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass
