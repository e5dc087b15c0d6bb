"""A run on Docker is the run of the local backend: same agents, same outcomes, same scores."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from kadath.cli.requests import Size
from schemas.events.leaderboard import LeaderboardPublished
from schemas.events.preflight import PreflightCheckPassed
from services.kit.blobs import FileBlobs
from tests.support import daemon
from tests.support.machine import Machine, offline_model, until_settled


async def _ran(machine: Machine, url: str, backend: str) -> tuple[list[Any], dict[str, str]]:
    """Agent, outcome and score of every row of every epoch; what the preflight found."""
    run = await machine.request(url, "sorting_network", Size(4, 3, backend), seed=5)
    outcome = await until_settled(machine, run)
    assert outcome.completed is not None, outcome.paused or outcome.failed
    blobs, rows, resolved = FileBlobs(machine.where.state / "blobs"), [], {}
    async with machine.client() as client:
        async for recorded in client.events(f"kadath.evt.{run}.>", lambda r: False, False):
            match recorded.data:
                case LeaderboardPublished() as board:
                    rows += json.loads(blobs.get(board.rows))
                case PreflightCheckPassed(check="isolation") as check:
                    resolved = dict(check.resolved)
    return [(row["agent"], row["outcome"], row["score"]) for row in rows], resolved


def test_docker_and_local_give_the_same_scores(tmp_path: Path) -> None:
    """The image is locked by its digest, so the runtimes differ; what agents reach does not."""
    if reason := daemon.trouble():
        pytest.skip(reason)
    machine = Machine(tmp_path)
    machine.start()
    try:
        with offline_model() as url:
            local, _ = asyncio.run(_ran(machine, url, "local"))
            docker, resolved = asyncio.run(_ran(machine, url, "docker"))
    finally:
        machine.stop()
    assert docker == local and len(local) == 12
    assert resolved["backend"] == "docker" and resolved["image"].startswith("sha256:")
    assert machine.leftovers() == []
