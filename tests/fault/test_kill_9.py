"""kill -9 of the whole process tree at seeded moments changes nothing that was recorded."""

import asyncio
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from kadath import home, replaying
from kadath.cli.requests import Size
from schemas import Recorded
from schemas.events.model_call import ModelCallRecorded
from tests.support.machine import Machine, offline_model, stats, until_settled

GOAL = "sorting_network"
SPREAD_SECONDS = 24.0


def test_a_run_that_is_killed_again_and_again_ends_as_if_nothing_happened(
    tmp_path: Path, request: pytest.FixtureRequest, backend: str
) -> None:
    """Same leaderboards, no recorded call sent twice, nothing left running."""
    size = Size(4, 4, backend)
    kills = int(request.config.getoption("--fault-kills"))
    with offline_model("--delay-ms", "40") as url:
        undisturbed = _undisturbed(tmp_path / "quiet", url, size)
        before = stats(url)["requests"]
        machine = Machine(tmp_path / "killed")
        machine.start()
        run = asyncio.run(machine.request(url, GOAL, size))
        _kill(machine, run, kills)
        outcome = asyncio.run(until_settled(machine, run))
        assert outcome.completed is not None, outcome.paused or outcome.failed
        log = asyncio.run(_log(machine, run))
        sent = stats(url)["requests"] - before
        machine.stop()
    assert replaying.leaderboard_digest(log) == undisturbed
    _assert_no_recorded_call_was_sent_twice(log, sent, kills)
    _assert_nothing_is_left(machine)


def _undisturbed(folder: Path, url: str, size: Size) -> str:
    machine = Machine(folder)
    machine.start()
    run = asyncio.run(machine.request(url, GOAL, size))
    outcome = asyncio.run(until_settled(machine, run))
    assert outcome.completed is not None, outcome.paused or outcome.failed
    log = asyncio.run(_log(machine, run))
    machine.stop()
    return replaying.leaderboard_digest(log)


def _kill(machine: Machine, run: str, kills: int) -> None:
    """At seeded moments, spread over the run; each kill is followed by a new start."""
    chance = random.Random(20261201)
    for _ in range(kills):
        time.sleep(chance.uniform(0.3, 2 * SPREAD_SECONDS / max(kills, 8)))
        machine.kill()
        machine.start()


async def _log(machine: Machine, run: str) -> list[Recorded]:
    async with machine.client() as client:
        return await replaying.log_of(client, run)


def _assert_no_recorded_call_was_sent_twice(log: list[Recorded], sent: int, kills: int) -> None:
    """A call in flight when the broker died may be sent again: at most what was in flight."""
    keys = Counter(r.data.key for r in log if isinstance(r.data, ModelCallRecorded))
    assert max(keys.values()) == 1
    in_flight = 8 * kills
    assert sent <= len(keys) + in_flight + 2  # and the two calls of the preflight


def _assert_nothing_is_left(machine: Machine) -> None:
    deadline = time.monotonic() + 5
    while machine.leftovers() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert machine.leftovers() == []
    assert not home.is_held(machine.where)
