"""nats-server or PostgreSQL dies under a living kernel: the run goes on by itself."""

import asyncio
import os
import signal
from pathlib import Path

import psutil
import pytest

from kadath import home, replaying
from kadath.cli.requests import Size
from tests.support.machine import Machine, offline_model, until_settled

SIZE = Size(population=4, epochs=2)
GOAL = "sorting_network"


@pytest.mark.timeout(200)
def test_a_dead_child_costs_a_moment_and_nothing_else(tmp_path: Path) -> None:
    """Same leaderboards; the kernel keeps its process, its watchers keep watching."""
    machine = Machine(tmp_path)
    machine.start()
    assert machine.process is not None
    try:
        with offline_model() as url:
            calm, disturbed = asyncio.run(_both(machine, url))
        kernel = home.running_kernel(machine.where)
        assert kernel is not None
        assert kernel.pid == machine.process.pid
    finally:
        machine.stop()
    assert calm == disturbed
    told = (machine.where.folder / "kernel.log").read_text()
    assert told.count("the kernel starts anew") == 2
    assert machine.leftovers() == []


async def _both(machine: Machine, url: str) -> tuple[str, str]:
    calm = await machine.request(url, GOAL, SIZE)
    assert (await until_settled(machine, calm)).completed is not None
    run = await machine.request(url, GOAL, SIZE)
    watching = asyncio.create_task(until_settled(machine, run))
    for name in ("nats-server", "postgres"):
        await asyncio.sleep(3)
        await _kill(machine, name)
    outcome = await watching
    assert outcome.completed is not None, outcome.paused or outcome.failed
    async with machine.client() as client:
        logs = [await replaying.log_of(client, r) for r in (calm, run)]
    return replaying.leaderboard_digest(logs[0]), replaying.leaderboard_digest(logs[1])


async def _kill(machine: Machine, name: str) -> None:
    """Wait until a kernel is up, then take its child away."""
    while home.running_kernel(machine.where) is None:
        await asyncio.sleep(0.1)
    assert machine.process is not None
    children = psutil.Process(machine.process.pid).children()
    (child,) = [c for c in children if c.name() == name]
    os.kill(child.pid, signal.SIGKILL)
