"""A long log of the kind a kernel really writes: copies of one real run under other run ids."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from bench.watching import completed
from kadath.cli.requests import Size
from schemas import encode, subjects
from services.kit.engine import Context
from tests.support.machine import Machine, offline_model

PARALLEL = 64
SIZE = Size(population=12, epochs=3)


class Line(NamedTuple):
    """One event as it lies in the log, and the service that wrote it."""

    service: str
    subject: str
    body: bytes


class History(NamedTuple):
    """A whole run with births, reflections and trials; its blobs stay in `blobs`."""

    run: str
    lines: list[Line]
    blobs: Path


def recorded(folder: Path) -> History:
    """Make one real run in `folder` and take its log."""
    with offline_model() as url:
        machine = Machine(folder)
        machine.start()
        try:
            run, lines = asyncio.run(_one_run(machine, url))
        finally:
            machine.stop()
    return History(run, lines, machine.where.state / "blobs")


async def _one_run(machine: Machine, url: str) -> tuple[str, list[Line]]:
    run = await machine.request(url, "sorting_network", SIZE)
    await completed(machine, run)
    lines = []
    async with machine.client() as client:
        async for found in client.events(subjects.of_run(run), lambda r: False, False):
            event = found.envelope
            subject = subjects.event(run, event.entity_id, event.type)
            lines.append(Line(event.by.split("/")[0], subject, encode(event)))
    return run, lines


async def prefill(contexts: Mapping[str, Context], history: History, count: int) -> None:
    """Exactly `count` events: as many copies as it takes, each in its own order."""
    copies = iter(range(-(-count // len(history.lines))))

    async def writer() -> None:
        for number in copies:
            first = number * len(history.lines)
            await _copy(contexts, history, number, history.lines[: count - first])

    await asyncio.gather(*(writer() for _ in range(PARALLEL)))


async def _copy(
    contexts: Mapping[str, Context], history: History, number: int, lines: list[Line]
) -> None:
    """The run again under a name of equal length; only its owner may write an event."""
    run = f"{history.run[:-4]}{number:04x}"
    for line in lines:
        subject = line.subject.replace(history.run, run)
        body = line.body.replace(history.run.encode(), run.encode())
        reply = await contexts[line.service].client.request(subject, body, timeout=20)
        assert b'"error"' not in reply.data, reply.data
