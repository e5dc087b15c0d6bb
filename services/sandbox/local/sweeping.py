"""Finds and ends what earlier kernels left: by label in the command line, by cgroup folder."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

from services.sandbox.local.trusted.cgroups import remove
from services.sandbox.local.trusted.labels import (
    CGROUP_PREFIX,
    CGROUP_ROOT,
    PREFIX,
    V1_CONTROLLERS,
    from_cgroup,
    parse,
)

Wanted = Callable[[str], bool]


def chooser(scope: str, run: str | None, keep: set[str]) -> Wanted:
    """Labels of one scope, of one run or all, but those of attempts to keep."""

    def wanted(label: str) -> bool:
        parts = parse(label)
        if parts is None or parts[0] != scope or parts[2] in keep:
            return False
        return run is None or parts[1] == run

    return wanted


async def sweep(wanted: Wanted, patience: float = 2.0) -> int:
    """Kill the processes, wait until they are gone, remove the cgroups; how many attempts."""
    swept: set[str] = set()
    until = asyncio.get_running_loop().time() + patience
    while labels := kill_labelled(wanted):
        swept |= labels
        if asyncio.get_running_loop().time() > until:
            break
        await asyncio.sleep(0.01)
    return len(swept | remove_cgroups(wanted))


def kill_labelled(wanted: Wanted) -> set[str]:
    """Send KILL to every process with a wanted label; the labels that were seen."""
    seen: set[str] = set()
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        label = _label(entry)
        if label is not None and wanted(label):
            seen.add(label)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(entry), signal.SIGKILL)
    return seen


def remove_cgroups(wanted: Wanted) -> set[str]:
    """Remove the folders of wanted labels; the labels that had some."""
    found: dict[str, list[str]] = {}
    for folder in _cgroup_folders():
        label = from_cgroup(folder.name)
        if wanted(label):
            found.setdefault(label, []).append(str(folder))
    for folders in found.values():
        remove(folders, patience=2.0)
    return set(found)


def _cgroup_folders() -> Iterator[Path]:
    for root in (Path(CGROUP_ROOT), *(Path(CGROUP_ROOT, name) for name in V1_CONTROLLERS)):
        yield from root.glob(f"{CGROUP_PREFIX}*")


def _label(pid: str) -> str | None:
    try:
        arguments = Path("/proc", pid, "cmdline").read_bytes().split(b"\0")
    except OSError:  # it ended, or it is not ours to see
        return None
    texts = (os.fsdecode(argument) for argument in arguments[:9])
    return next((text for text in texts if text.startswith(PREFIX)), None)
