"""A provider that goes away is nobody's failure: tried again, then paused, and nobody is culled."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kadath.cli.requests import Size
from schemas import Recorded
from schemas.commands.run import ResumeRun
from schemas.events.agent import AgentArchived
from schemas.events.attempt import AttemptCrashed, AttemptFinished, AttemptHeld
from schemas.events.epoch import EpochAbandoned, EpochOpened
from schemas.events.evidence import EvidenceFrozen
from services.kit import edges
from tests.support.machine import Machine, free_port, offline_model, until_settled

SIZE = Size(population=4, epochs=2)
SECONDS = 12
GOAL = "sorting_network"


@pytest.mark.timeout(280)
def test_an_outage_pauses_the_run_and_changes_nothing(tmp_path: Path) -> None:
    """The resumed run ends with the board of a run whose model was there all the time."""
    machine = Machine(tmp_path)
    machine.start()
    try:
        log, disturbed, calm = asyncio.run(_both(machine))
    finally:
        machine.stop()
    assert disturbed.leaderboard_sha == calm.leaderboard_sha
    assert disturbed.champion == calm.champion
    facts = [r.data for r in log]
    reasons = {f.reason for f in facts if isinstance(f, AttemptCrashed)}
    assert reasons == {"provider"}
    assert any(isinstance(f, AttemptHeld) for f in facts)
    assert not any(isinstance(f, EpochAbandoned) for f in facts)
    assert {f.outcome for f in facts if isinstance(f, AttemptFinished)} == {"completed"}


async def _both(machine: Machine) -> tuple[list[Recorded], Any, Any]:
    port = str(free_port())
    with offline_model("--port", port) as url:
        run = await machine.request(url, GOAL, SIZE, epoch_seconds=SECONDS)
        await _until(machine, run, EpochOpened)
    paused = (await until_settled(machine, run)).paused
    assert paused is not None and paused.cause == "provider"
    gone = (AgentArchived, EvidenceFrozen)
    assert not any(isinstance(r.data, gone) for r in await _log(machine, run))
    with offline_model("--port", port) as url:
        async with machine.client() as client:
            await client.send("scheduler", ResumeRun(run=run, command=edges.uuid7()))
        disturbed = (await until_settled(machine, run)).completed
        again = await machine.request(url, GOAL, SIZE, epoch_seconds=SECONDS)
        calm = (await until_settled(machine, again)).completed
    return await _log(machine, run), disturbed, calm


async def _until(machine: Machine, run: str, kind: type) -> None:
    async with machine.client() as client:
        seen = lambda r: isinstance(r.data, kind)  # noqa: E731
        async for _ in client.events(f"kadath.evt.{run}.>", seen, True):
            pass


async def _log(machine: Machine, run: str) -> list[Recorded]:
    async with machine.client() as client:
        return [r async for r in client.events(f"kadath.evt.{run}.>", lambda r: False, False)]
