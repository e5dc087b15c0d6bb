"""Control groups of one attempt, where the outer process begins as root and may make them.

The root process makes and removes them; the organism's first process joins through descriptors
that root opened, so nothing after the change of user needs any right on them.
"""

import os
import time

from .labels import CGROUP_ROOT, V1_CONTROLLERS, cgroup_name

PERIOD = 100_000
Settings = dict[str, int | str]
OWN_PROCESSES = 4  # bwrap twice, the launcher, the relay


class Cgroups:
    """The folders of one attempt and the open files that let a process join them."""

    def __init__(self, version: str, folders: list[str], oom_file: str) -> None:
        self.version, self.folders, self._oom_file = version, folders, oom_file
        self._joins = [os.open(f"{folder}/cgroup.procs", os.O_WRONLY) for folder in folders]

    def join(self) -> None:
        """Move the calling process in."""
        for fd in self._joins:
            os.write(fd, b"0")

    def oom_kills(self) -> int:
        """How many processes the kernel killed for want of memory."""
        try:
            lines = _read(self._oom_file).splitlines()
        except OSError:
            return 0
        return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))

    def remove(self) -> None:
        """Kill what is left inside and remove the folders."""
        remove(self.folders, patience=2.0)


def remove(folders: list[str], patience: float) -> None:
    """Kill what is left in cgroups and remove their folders."""
    until = time.monotonic() + patience
    for folder in folders:
        while not _removed(folder) and time.monotonic() < until:
            time.sleep(0.003)


def create(label: str, limits: dict[str, float]) -> Cgroups | None:
    """Version 1 or 2, whichever is there and writable; None where neither is."""
    name = cgroup_name(label)
    memory, pids = int(limits["memory_mb"]) << 20, int(limits["pids"]) + OWN_PROCESSES
    quota = max(1000, int(limits["cpus"] * PERIOD))
    if os.path.exists(f"{CGROUP_ROOT}/cgroup.controllers"):
        return _second(f"{CGROUP_ROOT}/{name}", memory, pids, quota)
    return _first(name, memory, pids, quota)


def _first(name: str, memory: int, pids: int, quota: int) -> Cgroups | None:
    settings: dict[str, Settings] = {
        "memory": {"memory.limit_in_bytes": memory},
        "pids": {"pids.max": pids},
        "cpu": {"cpu.cfs_period_us": PERIOD, "cpu.cfs_quota_us": quota},
    }
    folders = [f"{CGROUP_ROOT}/{controller}/{name}" for controller in V1_CONTROLLERS]
    try:
        for controller, folder in zip(V1_CONTROLLERS, folders, strict=True):
            _make(folder, settings[controller])
        _limit_swap(f"{folders[0]}/memory.memsw.limit_in_bytes", memory)
        return Cgroups("v1", folders, f"{folders[0]}/memory.oom_control")
    except OSError:
        _discard(folders)
        return None


def _second(folder: str, memory: int, pids: int, quota: int) -> Cgroups | None:
    settings: Settings = {"memory.max": memory, "pids.max": pids, "cpu.max": f"{quota} {PERIOD}"}
    try:
        _write(f"{CGROUP_ROOT}/cgroup.subtree_control", "+memory +pids +cpu")
        _make(folder, settings)
        _limit_swap(f"{folder}/memory.swap.max", 0)
        return Cgroups("v2", [folder], f"{folder}/memory.events")
    except OSError:
        _discard([folder])
        return None


def _make(folder: str, settings: Settings) -> None:
    if os.path.isdir(folder):  # of an earlier start of the same attempt, whose keeper was killed
        remove([folder], patience=2.0)
    os.mkdir(folder, 0o755)
    for file, value in settings.items():
        _write(f"{folder}/{file}", str(value))


def _limit_swap(file: str, value: int) -> None:
    if os.path.exists(file):
        _write(file, str(value))


def _discard(folders: list[str]) -> None:
    for folder in folders:
        _removed(folder)


def _removed(folder: str) -> bool:
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        _kill_inside(folder)
        return False
    return True


def _kill_inside(folder: str) -> None:
    try:
        for pid in _read(f"{folder}/cgroup.procs").split():
            os.kill(int(pid), 9)
    except OSError:
        pass


def _read(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read()


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
