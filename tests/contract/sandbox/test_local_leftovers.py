"""Nothing outlives the kernel: no process, no mount, no cgroup; and a sweep finds what would."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from services.sandbox.local import LocalContainers
from services.sandbox.local.trusted.labels import PREFIX
from services.sandbox.port import Spec
from tests.support.loop import go

KERNEL = Path(__file__).with_name("kernel_to_kill.py")
REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def containers(home: Path, local: LocalContainers) -> LocalContainers:
    """A backend whose scope holds this test's attempts only."""
    return LocalContainers(home / "backend", scope=home.name)


def commands() -> dict[int, bytes]:
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found[int(entry.name)] = (entry / "cmdline").read_bytes()
            except OSError:
                continue
    return found


def labelled(scope: str) -> list[int]:
    """Processes of our own that carry the scope's label."""
    mark = f"{PREFIX}{scope}/".encode()
    return [pid for pid, command in commands().items() if mark in command]


def organisms() -> set[int]:
    """Hanging organisms: they carry no label."""
    ours = commands().items()
    hanging = {pid for pid, command in ours if command.endswith(b"time.sleep(90)\0")}
    return hanging - {pid for pid, command in ours if PREFIX.encode() in command}


def cgroups(scope: str) -> list[Path]:
    return [
        *Path("/sys/fs/cgroup").glob(f"*{scope}*"),
        *Path("/sys/fs/cgroup").glob(f"*/*{scope}*"),
    ]


def until(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    ends = time.monotonic() + seconds
    while not condition() and time.monotonic() < ends:
        time.sleep(0.01)
    return condition()


@contextmanager
def kernel(home: Path, *names: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A kernel whose attempts have all begun."""
    before = organisms()
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *sys.path[1:]])}
    child = subprocess.Popen([sys.executable, KERNEL, home, *names], env=environ)
    try:
        assert until(lambda: len(organisms() - before) >= 2 * len(names), 15)
        yield child
    finally:
        child.kill()
        child.wait()


def nothing_left(scope: str, before: set[int]) -> bool:
    return not labelled(scope) and not organisms() - before and not cgroups(scope)


def test_kill_9_of_the_kernel_leaves_nothing(containers: LocalContainers, home: Path) -> None:
    """Its attempts end with it, without anybody's help."""
    before = organisms()
    mounts = Path("/proc/self/mounts").read_text()
    with kernel(home, "r1-a1", "r1-a2") as child:
        assert len(labelled(home.name)) >= 6
        child.kill()
        assert until(lambda: nothing_left(home.name, before))
    assert Path("/proc/self/mounts").read_text() == mounts


def test_a_killed_outer_process_takes_its_sandbox_along(
    containers: LocalContainers, spec: Callable[..., Spec], home: Path
) -> None:
    """The attempt is told as failed; a cgroup that stayed is the next sweep's."""
    before = organisms()

    async def scene() -> str:
        code = "import time; time.sleep(90)"
        running = asyncio.create_task(containers.run(spec(code)))
        while not organisms() - before:
            await asyncio.sleep(0.02)
        for pid in labelled(home.name):
            os.kill(pid, signal.SIGKILL)
        outcome = await running
        await containers.sweep(None, set())
        return outcome.reason

    assert go(scene()) == "start_failed"
    assert until(lambda: nothing_left(home.name, before))


def test_a_sweep_spares_what_is_to_be_kept(containers: LocalContainers, home: Path) -> None:
    """By run, by name, and never beyond the scope."""
    before = organisms()
    stranger = LocalContainers(home / "stranger", scope="another")
    with kernel(home, "r1-a1", "r1-a2", "r2-a1"):
        assert go(stranger.sweep(None, set())) == 0
        assert go(containers.sweep("r1", {"r1-a2"})) == 1
        assert until(lambda: len(organisms() - before) == 4)
        assert go(containers.sweep("r2", set())) == 1
        assert go(containers.sweep(None, {"r1-a2"})) == 0
        assert go(containers.sweep(None, set())) == 1
        assert until(lambda: nothing_left(home.name, before))


def test_an_attempt_that_ends_leaves_nothing(
    containers: LocalContainers, spec: Callable[..., Spec], home: Path
) -> None:
    """Cgroups are removed when the outcome is told, and no descriptor stays open."""
    go(containers.run(spec()))
    open_before = len(os.listdir("/proc/self/fd"))
    go(containers.run(spec()))
    assert (labelled(home.name), cgroups(home.name)) == ([], [])
    assert len(os.listdir("/proc/self/fd")) == open_before
