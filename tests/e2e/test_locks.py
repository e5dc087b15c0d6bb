"""A changed locked input stops the run and says what changed."""

import asyncio
from pathlib import Path

from kadath.cli.requests import Size
from schemas.commands.run import PauseRun, ResumeRun
from schemas.events.run import RunLocked, RunLockViolated, RunPaused
from services.kit import edges
from tests.support.machine import Machine, offline_model, until_settled


def test_a_changed_benchmark_stops_the_run_before_the_next_phase(tmp_path: Path) -> None:
    """Paused, its stored benchmark edited, resumed: the violation names the lock."""
    machine = Machine(tmp_path)
    machine.start()
    try:
        with offline_model() as url:
            log = asyncio.run(_tampered(machine, url))
    finally:
        machine.stop()
    violated = [r.data for r in log if isinstance(r.data, RunLockViolated)]
    assert [v.lock for v in violated] == ["benchmark"]
    paused = [r.data for r in log if isinstance(r.data, RunPaused)]
    assert [p.cause for p in paused] == ["operator", "lock"]


async def _tampered(machine: Machine, url: str):  # type: ignore[no-untyped-def]
    run = await machine.request(url, "sorting_network", Size(population=4, epochs=2))
    async with machine.client() as client:
        await client.send("scheduler", PauseRun(run=run, command=edges.uuid7(), mode="grading"))
    assert (await until_settled(machine, run)).paused is not None
    async with machine.client() as client:
        log = [r async for r in client.events(f"kadath.evt.{run}.run.>", lambda r: False, False)]
        locked = next(r.data for r in log if isinstance(r.data, RunLocked))
        path = client.blobs.path(locked.benchmark.sha256)
        path.write_bytes(path.read_bytes().replace(b'"anti_fraud"', b'"anti_frawd"'))
        await client.send("scheduler", ResumeRun(run=run, command=edges.uuid7()))
        until = lambda r: isinstance(r.data, RunPaused) and r.data.cause == "lock"  # noqa: E731
        return [r async for r in client.events(f"kadath.evt.{run}.run.>", until)]
