"""What is too large for the log is refused with where it stands, and nothing is lost or stuck."""

import asyncio
from pathlib import Path

import pytest

from kadath import nats_server
from schemas import Draft
from schemas.commands import Accepted
from schemas.commands.run import PauseRun, RequestRun
from schemas.events.run import RunPauseRequested
from services.kit import commands, edges
from services.kit.errors import TooLarge
from services.kit.log import too_long
from services.scheduler.service import SERVICE
from tests.support.given import requested
from tests.support.kernel import Kernel, kernel

RUN = "r20261231-235959-0a1b2c"


async def send(running: Kernel, command: PauseRun | RequestRun) -> Accepted:
    platform = running.context("scheduler").platform
    client = await nats_server.connect_operator(platform.nats_url, platform.nkeys["operator"])
    try:
        return await commands.send(client, "scheduler", command)
    finally:
        await client.close()


def pause(reason: str) -> PauseRun:
    return PauseRun(run=RUN, command=edges.uuid7(), mode="epoch", reason=reason)


def test_a_command_with_a_huge_text_is_refused_at_once(tmp_path: Path) -> None:
    """With the field's name; the same command in short is accepted."""
    with kernel(tmp_path, SERVICE) as running:
        ask = RequestRun(run=RUN, command=edges.uuid7(), request=requested())
        running.run(send(running, ask))
        for size in (9_000, 200_000):
            with pytest.raises(commands.Denied, match=r"run.pause_requested"):
                running.run(asyncio.wait_for(send(running, pause("x" * size)), 5))
        assert len(running.run(send(running, pause("x" * 8_000))).events) == 1


def test_an_event_with_a_long_string_is_not_written(tmp_path: Path) -> None:
    """Whoever says it; the log stays as it was."""
    with kernel(tmp_path, SERVICE) as running:
        long = Draft("main", RunPauseRequested(mode="now", reason="é" * 8_193))
        with pytest.raises(TooLarge, match=r"reason is longer than 8192 characters"):
            running.run(running.say("scheduler", RUN, long))
        assert running.run(running.log(RUN)) == []


def test_the_place_of_a_long_string_is_named():
    """In lists and objects, at any depth."""
    long = "x" * 8_193
    assert too_long({"a": [{"b": "x"}, {"c": long}]}) == "a[1].c"
    assert too_long([1, None, "x" * 8_192]) is None
