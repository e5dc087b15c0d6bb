"""Reading history: the typed fold of all services, and PostgreSQL, against a raw consumer."""

import asyncio
import tempfile
import time
from pathlib import Path

import asyncpg
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import ConsumerConfig, DeliverPolicy

from bench.appending import raw
from bench.report import Figure
from kadath.embedded import all_services
from schemas import Actor, Envelope, Recorded, subjects
from schemas.events.attempt import AttemptCrashed
from services.kit import edges
from services.kit.connections import connect
from services.kit.engine import Context, Engine
from services.kit.follower import Follower
from services.lineage.projections.projection import open_pool
from services.lineage.projections.rebuild import rebuild
from tests.support.kernel import kernel, voice

WRITERS = 64


async def prefill(context: Context, count: int) -> None:
    """`count` attempt events of one run, a few hundred an entity."""

    async def writer(first: int) -> None:
        for number in range(first, count, WRITERS):
            await raw(context, _event(number))

    await asyncio.gather(*(writer(n) for n in range(WRITERS)))


def _event(number: int) -> Envelope:
    return Envelope(
        id=edges.uuid7(), type="attempt.crashed", v=1, run="bench", entity="attempt",
        entity_id=f"e001x1-a{number}", occurred_at=edges.now(), seen=0,
        actor=Actor(kind="service", name="sandbox"), by="bench",
        data=AttemptCrashed(restart=0, reason="exit", exit_code=1, detail="x" * 300),
    )  # fmt: skip


async def raw_seconds(client: Client, count: int) -> float:
    """An ordered callback consumer that only counts."""
    done, seen = asyncio.Event(), 0

    async def on_message(message: Msg) -> None:
        nonlocal seen
        seen += 1
        if seen == count:
            done.set()

    began = time.perf_counter()
    config = ConsumerConfig(deliver_policy=DeliverPolicy.ALL)
    subscription = await client.jetstream().subscribe(
        subjects.ALL_EVENTS, stream=subjects.EVENTS, ordered_consumer=True, config=config,
        cb=on_message, pending_msgs_limit=1_000_000, pending_bytes_limit=1 << 30,
    )  # fmt: skip
    await done.wait()
    took = time.perf_counter() - began
    await subscription.unsubscribe()
    return took


async def fold_seconds(client: Client, context: Context) -> tuple[float, list[Recorded]]:
    """Decode every event and fold it into the views of all seven services."""
    engine, kept = Engine(all_services(), context.blobs, "bench"), list[Recorded]()
    engine.listeners.append(kept.append)
    follower = Follower(client, engine.apply)
    engine.follower = follower
    began = time.perf_counter()
    await follower.start()
    await follower.caught_up.wait()
    took = time.perf_counter() - began
    await follower.stop()
    return took, kept


async def measured(context: Context, count: int) -> list[Figure]:
    await prefill(context, count)
    platform = context.platform
    client = (await connect(platform.nats_url, "follower", platform.nkeys["follower"])).client
    plain = min([await raw_seconds(client, count) for _ in range(2)])
    folded, log = await fold_seconds(client, context)
    pool: asyncpg.Pool = await open_pool(platform.dsn["lineage"])
    began = time.perf_counter()
    await rebuild(pool, log, context.blobs.get)
    rebuilt = folded + time.perf_counter() - began
    await pool.close()
    await client.close()
    return [
        Figure("typed_fold_over_raw_consumer", folded / plain, 3, "lower"),
        Figure("rebuild_in_postgresql_over_raw_consumer", rebuilt / plain, 10, "lower"),
    ]


def figures(count: int) -> list[Figure]:
    with (
        tempfile.TemporaryDirectory(prefix="kadath-bench-") as folder,
        kernel(Path(folder), voice("sandbox")) as running,
    ):
        return running.run(measured(running.context("sandbox"), count))
