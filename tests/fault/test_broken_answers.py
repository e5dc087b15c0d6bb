"""A third of all model answers broken: the run completes, every fault is on record once."""

import asyncio
import json
from collections import Counter
from pathlib import Path

import pytest

from kadath.cli.requests import Size
from schemas.commands.run import ResumeRun
from schemas.events.model_call import ModelCallFailed, ModelCallRecorded
from services.kit import edges
from tests.support.machine import Machine, offline_model, stats, until_settled


@pytest.mark.timeout(280)
def test_every_injected_fault_is_in_exactly_one_event(tmp_path: Path) -> None:
    """No JSON, truncated, wrong types, 429, 500, empty, a lone surrogate, a stall."""
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"seed": 7, "rate": 0.3, "stall_seconds": 3}))
    machine = Machine(tmp_path)
    machine.start()
    try:
        with offline_model("--faults", str(plan)) as url:
            log, resumed = asyncio.run(_run(machine, url))
            injected = stats(url)["faults"]
    finally:
        machine.stop()
    seen = Counter(
        r.data.fault
        for r in log
        if isinstance(r.data, (ModelCallRecorded, ModelCallFailed)) and r.data.fault
    )
    assert len(injected) >= 8
    assert set(seen) == {fault["id"] for fault in injected}
    assert set(seen.values()) == {1}
    assert resumed <= 1


async def _run(machine: Machine, url: str):  # type: ignore[no-untyped-def]
    run = await machine.request(url, "sorting_network", Size(population=4, epochs=4))
    outcome, resumed = await until_settled(machine, run), 0
    while outcome.completed is None and resumed < 2:
        async with machine.client() as client:
            await client.send("scheduler", ResumeRun(run=run, command=edges.uuid7()))
        outcome, resumed = await until_settled(machine, run), resumed + 1
    assert outcome.completed is not None, outcome.paused or outcome.failed
    async with machine.client() as client:
        log = [r async for r in client.events(f"kadath.evt.{run}.>", lambda r: False, False)]
    return log, resumed
