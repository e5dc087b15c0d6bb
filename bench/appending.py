"""The kit's append against raw nats-py that sends the same headers to the same stream."""

import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

from bench.report import Figure
from schemas import Actor, Envelope, encode, subjects
from schemas.events.run import RunPauseRequested
from schemas.subjects import EntityKey
from services.kit import edges
from services.kit.engine import Context
from services.kit.log import FENCE, FENCE_SUBJECT, Log
from tests.support.kernel import kernel, voice

COUNT = 1500
PARALLEL = 64
TURNS = 7


def event(run: str, entity_id: str) -> Envelope:
    return Envelope(
        id=edges.uuid7(), type="run.pause_requested", v=1, run=run, entity="run",
        entity_id=entity_id, occurred_at=edges.now(), seen=0,
        actor=Actor(kind="service", name="scheduler"), by="bench",
        data=RunPauseRequested(mode="epoch", reason="x" * 500),
    )  # fmt: skip


async def by_kit(log: Log, one: Envelope) -> None:
    await log.append([one], {EntityKey(one.run, one.entity, one.entity_id): 0})


async def raw(context: Context, one: Envelope) -> None:
    key = EntityKey(one.run, one.entity, one.entity_id)
    headers = {
        "Nats-Msg-Id": one.id,
        "content-type": "application/json",
        FENCE: "0",
        FENCE_SUBJECT: subjects.entity(key),
    }
    subject = subjects.event(one.run, one.entity_id, one.type)
    reply = await context.client.request(subject, encode(one), timeout=5, headers=headers)
    assert "error" not in json.loads(reply.data)


async def rate(write: Callable[[Envelope], Awaitable[None]], run: str, workers: int) -> float:
    """Events a second with `workers` writers."""
    events = [event(run, f"m{n}") for n in range(COUNT)]

    async def worker(first: int) -> None:
        for one in events[first::workers]:
            await write(one)

    began = time.perf_counter()
    await asyncio.gather(*(worker(n) for n in range(workers)))
    return COUNT / (time.perf_counter() - began)


async def ratio(context: Context, workers: int) -> float:
    """The median of pairs taken in turns: what slows the machine slows both of a pair."""
    found = []
    for turn in range(TURNS):
        name = f"w{workers}t{turn}"
        plain = await rate(lambda e: raw(context, e), f"raw{name}", workers)
        kit = await rate(lambda e: by_kit(context.log, e), f"kit{name}", workers)
        found.append(kit / plain)
    return median(found)


def figures() -> list[Figure]:
    with (
        tempfile.TemporaryDirectory(prefix="kadath-bench-") as folder,
        kernel(Path(folder), voice("scheduler")) as running,
    ):
        context = running.context("scheduler")
        one = running.run(ratio(context, 1))
        many = running.run(ratio(context, PARALLEL))
    return [
        Figure("append_of_raw_one_at_a_time", one, 0.8, "higher"),
        Figure("append_of_raw_64_in_parallel", many, 0.8, "higher"),
    ]
