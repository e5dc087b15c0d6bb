"""Child processes: ready or an error with their last words, and never left behind."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from services.kit.supervisor import ChildFailed, Supervisor, Unit


def unit(log: Path, script: str, **more) -> Unit:
    async def ready() -> bool:
        return log.exists() and b"ready" in log.read_bytes()

    return Unit("child", ["sh", "-c", script], ready, log, **more)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def started(log: Path, script: str, **more) -> tuple[int | None, float]:
    """(return code after the stop, seconds that the stop took) of one child."""

    async def scene() -> tuple[int | None, float]:
        supervisor = Supervisor()
        process = await supervisor.start(unit(log, script, **more))
        began = time.monotonic()
        await supervisor.stop()
        assert supervisor.deaths.empty()
        return process.returncode, time.monotonic() - began

    return asyncio.run(scene())


def test_a_child_is_stopped_by_its_signal(tmp_path: Path):
    """At once when it obeys; with the next signal when it ignores the first."""
    code, seconds = started(tmp_path / "one", "echo ready; exec sleep 600")
    assert (code, seconds < 2) == (-signal.SIGTERM, True)
    script = "trap '' TERM; echo ready; while :; do sleep 1; done"
    signals = (signal.SIGTERM, signal.SIGQUIT)
    code, seconds = started(tmp_path / "two", script, stop_signals=signals)
    assert (code, 5 <= seconds < 8) == (-signal.SIGQUIT, True)


def test_a_child_that_ends_before_it_is_ready_says_why(tmp_path: Path):
    """And so does one that takes too long."""

    async def start(script: str, **more) -> None:
        supervisor = Supervisor()
        try:
            await supervisor.start(unit(tmp_path / script[:4], script, **more))
        finally:
            await supervisor.stop()

    with pytest.raises(ChildFailed, match="child ended with 7: no disk"):
        asyncio.run(start("echo no disk; sleep 0.1; exit 7"))
    with pytest.raises(ChildFailed, match="child is not ready: still thinking"):
        asyncio.run(start("true; echo still thinking; exec sleep 600", ready_seconds=0.3))


def test_a_child_does_not_outlive_its_parent(tmp_path: Path):
    """Whatever happens to the parent: the death signal is the child's own."""
    parent = os.fork()
    if parent == 0:

        async def hang() -> None:
            await Supervisor().start(unit(tmp_path / "log", "echo ready $$; exec sleep 600"))
            await asyncio.sleep(600)

        asyncio.run(hang())
        os._exit(0)
    while not (words := (tmp_path / "log").read_text().split() if _has(tmp_path / "log") else []):
        time.sleep(0.02)
    child = int(words[1])
    assert alive(child)
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    deadline = time.monotonic() + 5
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(child)


def _has(log: Path) -> bool:
    return log.exists() and log.read_text().endswith("\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a child as another user")
def test_a_child_can_run_as_another_user(tmp_path: Path):
    """Without any of root's groups."""
    log = tmp_path / "log"
    started(log, "id -u; id -g; id -G; echo ready; exec sleep 600", uid=65532, gid=65531)
    assert log.read_text().split()[:3] == ["65532", "65531", "65531"]
