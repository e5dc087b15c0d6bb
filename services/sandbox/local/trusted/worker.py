"""The worker: makes the space, runs the sandbox in it, freezes what is left, reports."""

from __future__ import annotations

import os
import time

from . import freeze, inner, kernel, space
from .cgroups import Cgroups
from .drain import printable
from .spool import Spool, SpoolFailed
from .watch import GONE, Watch

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` would take 6 ms to load
    from typing import Any

    Report = dict[str, Any]


class KernelGone(Exception):
    """Nobody is left to report to."""


class Links:
    """What ties the worker to the processes above it.

    `control` brings the wish to stop, or an end when the kernel is gone; `gone` is readable when
    its death was told by signal. `spool` is open where root opened it.
    """

    def __init__(
        self,
        control: int,
        gone: int,
        label: str,
        groups: Cgroups | None = None,
        spool: int | None = None,
    ) -> None:
        self.control, self.gone, self.label = control, gone, label
        self.groups, self.spool = groups, spool


def failure(detail: str) -> Report:
    """The report of an attempt that never began."""
    return {"reason": "start_failed", "exit_code": None, "detail": detail}


def run(
    request: dict[str, Any], blobs: dict[str, bytes], links: Links
) -> tuple[Report, list[tuple[str, bytes]]]:
    """One attempt. Raises OSError when the machine refuses the outer namespace."""
    spool = links.spool
    if spool is None:
        spool = os.open(request["spool"], os.O_RDONLY | os.O_DIRECTORY)
    request["seconds"] = max(0.0, request["deadline_at"] - time.time())
    space.enter()
    kernel.adopt_orphans()
    room = space.build(request, blobs)
    watch = Watch(request, room, links.control, links.gone)
    began = time.monotonic()
    watch.run(_start(request, blobs, room, watch, links), links.groups)
    if watch.reason == GONE:
        raise KernelGone
    report = _judge(watch, room, links.groups)
    report["wall_seconds"] = time.monotonic() - began
    if room.upper is not None and report["reason"] not in ("stopped", "start_failed"):
        _freeze(report, room, request["limits"], spool)
    return report, [("stdout", watch.stdout.content()), ("log", printable(watch.stderr.content()))]


def _freeze(report: Report, room: space.Space, limits: dict[str, Any], folder: int) -> None:
    try:
        report["frozen"] = freeze.freeze(room, limits, Spool(folder))
    except SpoolFailed as error:  # nothing frozen is better than half of it
        report["detail"] = f"the spool cannot be written: {error}"


def _start(
    request: dict[str, Any], blobs: dict[str, bytes], room: space.Space, watch: Watch, links: Links
) -> int:
    pipes = inner.Pipes(
        stdout=watch.stdout.write,
        stderr=watch.stderr.write,
        status=watch.status_write,
        seccomp=_filled_pipe(blobs["seccomp"]),
        environ=_filled_pipe(blobs["environ"]),
    )
    args = inner.arguments(request, room, pipes)
    pid = inner.start(request["bwrap"], links.label, args, pipes, links.groups)
    os.close(pipes.seccomp)
    os.close(pipes.environ)
    return pid


def _filled_pipe(content: bytes) -> int:
    """Read once and gone: unlike a file it shows nothing to who opens it later."""
    read, write = os.pipe()
    os.write(write, content)
    os.close(write)
    return read


def _judge(watch: Watch, room: space.Space, groups: Cgroups | None) -> Report:
    killed = groups.oom_kills() if groups is not None else 0
    code = watch.exit_code if watch.reason is None else None
    reason, detail = watch.reason or "exit", ""
    if reason == "exit" and code != 0 and killed:
        reason = "oom"
    elif not watch.started():
        reason, code, detail = "start_failed", None, _last_line(watch)
    elif reason == "exit" and code != 0 and room.is_full():
        reason = "quota"
    if killed:
        detail = f"{killed} processes were killed for want of memory"
    return {
        "reason": reason,
        "detail": detail,
        "exit_code": code,
        "cpu_seconds": watch.cpu_seconds,
        "stdout_truncated": watch.stdout.truncated(),
        "cgroups": groups.version if groups is not None else None,
    }


def _last_line(watch: Watch) -> str:
    lines = printable(watch.stderr.content()).decode().strip().splitlines()
    return lines[-1][-500:] if lines else "bubblewrap ended before the sandbox began"
