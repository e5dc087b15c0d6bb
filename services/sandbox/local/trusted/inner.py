"""The sandbox itself: bubblewrap's arguments, and the start of its first process."""

from __future__ import annotations

import os
from _signal import SIGKILL  # type: ignore[import-not-found]

from . import kernel
from .cgroups import Cgroups
from .space import ORGANISM_ID, Space

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` would take 6 ms to load
    from typing import Any

HIDDEN = ("/proc/keys", "/proc/timer_list", "/proc/kcore", "/proc/kallsyms", "/proc/sched_debug")
LAUNCHER = "/kadath/launcher.py"
OPEN_FILES = 1024
SHELL_PATHS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


class Pipes:
    """The ends that bubblewrap's process writes to or reads from."""

    def __init__(self, stdout: int, stderr: int, status: int, seccomp: int, environ: int) -> None:
        self.stdout, self.stderr = stdout, stderr
        self.status, self.seccomp, self.environ = status, seccomp, environ


def arguments(request: dict[str, Any], space: Space, pipes: Pipes) -> list[str]:
    """The command line. It holds paths but no secret: every user may read it."""
    identity = str(ORGANISM_ID)
    args = ["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"]
    args += ["--new-session", "--clearenv", "--uid", identity, "--gid", identity]
    args += ["--cap-drop", "ALL", "--hostname", "organism"]
    args += ["--json-status-fd", str(pipes.status), "--seccomp", str(pipes.seccomp)]
    args += _system(space) + _own(request, space)
    for path in filter(os.path.exists, HIDDEN):
        args += ["--ro-bind", "/dev/null", path]
    args += ["--remount-ro", "/", "--chdir", request["cwd"], "--"]
    return args + _launcher(request, pipes)


def _system(space: Space) -> list[str]:
    args = ["--ro-bind", "/usr", "/usr"]
    for name in SHELL_PATHS:
        if os.path.islink(f"/{name}"):
            args += ["--symlink", f"usr/{name}", f"/{name}"]
        elif os.path.isdir(f"/{name}"):
            args += ["--ro-bind", f"/{name}", f"/{name}"]
    args += ["--ro-bind", f"{space.base}/etc", "/etc"]
    args += ["--ro-bind-try", "/etc/alternatives", "/etc/alternatives"]
    args += ["--proc", "/proc", "--dev", "/dev"]
    args += ["--bind", f"{space.base}/tmp/shm", "/dev/shm", "--remount-ro", "/dev"]
    return args


def _own(request: dict[str, Any], space: Space) -> list[str]:
    args = ["--bind", f"{space.base}/tmp/tmp", "/tmp"]
    for folder in ("input", "signals", "kadath"):
        args += ["--ro-bind", f"{space.base}/{folder}", f"/{folder}"]
    if space.state is not None:
        args += ["--bind", space.state, "/state"]
    if request["broker"] is not None:
        args += ["--ro-bind", request["broker"], "/run/broker"]
    for source, target in request["mounts"]:
        args += ["--ro-bind", source, target]
    return args


def _launcher(request: dict[str, Any], pipes: Pipes) -> list[str]:
    limits = request["limits"]
    relay = "0" if request["broker"] is None else "1"
    cpu_seconds = max(1, int(request["seconds"] * limits["cpus"]) + 2)
    numbers = (int(limits["pids"]), int(limits["file_mb"]) << 20, OPEN_FILES, cpu_seconds)
    args = [request["python"], "-I", "-S", LAUNCHER, str(pipes.environ), relay]
    return [*args, *map(str, numbers), "--", *request["argv"]]


def start(bwrap: str, label: str, args: list[str], pipes: Pipes, groups: Cgroups | None) -> int:
    """Fork, join the cgroups, become bubblewrap with an empty environment."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        kernel.die_with_parent(parent, SIGKILL)
        _prefer_as_victim()
        if groups is not None:
            groups.join()
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.dup2(pipes.stdout, 1)
        os.dup2(pipes.stderr, 2)
        for fd in (pipes.status, pipes.seccomp, pipes.environ):
            os.set_inheritable(fd, True)
        # The label is argv[0], so that a sweep sees whose sandbox this is.
        os.execve(bwrap, [label, *args], {})
    except BaseException as error:  # noqa: BLE001 (a fork must not go on)
        os.write(2, f"bwrap: {error}\n".encode())
    os._exit(126)


def _prefer_as_victim() -> None:
    fd = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
    os.write(fd, b"500")
    os.close(fd)
