"""Reading history: the typed fold of all services, and PostgreSQL, against a raw consumer."""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import asyncpg
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import ConsumerConfig, DeliverPolicy

from bench import history
from bench.history import History
from bench.report import Figure
from kadath.embedded import all_services
from schemas import CATALOGUE, Recorded, subjects
from schemas.events import SERVICES
from services.kit.blobs import Blobs, FileBlobs
from services.kit.connections import connect
from services.kit.engine import Engine
from services.kit.follower import Follower
from services.lineage.projections.projection import open_pool
from services.lineage.projections.rebuild import rebuild
from tests.support.kernel import Kernel, kernel, voice


async def raw_seconds(client: Client, count: int) -> tuple[float, list[bytes]]:
    """An ordered callback consumer that only keeps what it is given."""
    done, bodies = asyncio.Event(), list[bytes]()

    async def on_message(message: Msg) -> None:
        bodies.append(message.data)
        if len(bodies) == count:
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
    return took, bodies


async def fold_seconds(client: Client, blobs: Blobs, count: int) -> float:
    """Decode every event and fold it into the views of all seven services."""
    engine = Engine(all_services(), blobs, "bench")
    follower = Follower(client, engine.apply)
    engine.follower = follower
    began = time.perf_counter()
    await follower.start()
    await follower.wait_for(count)
    took = time.perf_counter() - began
    assert follower.unreadable == 0
    await follower.stop()
    return took


async def rebuild_seconds(dsn: str, bodies: list[bytes], blobs: Blobs) -> float:
    """Decode what was read and write lineage's tables from nothing."""
    pool: asyncpg.Pool = await open_pool(dsn)
    began = time.perf_counter()
    await rebuild(pool, _decoded(bodies), blobs.get)
    took = time.perf_counter() - began
    rows = await pool.fetchval("select count(*) from activity")
    assert rows > len(bodies) / 4, f"{rows} lines of activity out of {len(bodies)} events"
    await pool.close()
    return took


def _decoded(bodies: list[bytes]) -> Iterator[Recorded]:
    return (Recorded.read(seq, body, CATALOGUE) for seq, body in enumerate(bodies, start=1))


async def measured(running: Kernel, found: History, count: int) -> list[Figure]:
    contexts = running.engine.contexts
    await history.prefill(contexts, found, count)
    platform, blobs = contexts["lineage"].platform, FileBlobs(found.blobs)
    client = (await connect(platform.nats_url, "follower", platform.nkeys["follower"])).client
    plain, bodies = await raw_seconds(client, count)
    folded = await fold_seconds(client, blobs, count)
    plain = min(plain, (await raw_seconds(client, count))[0])
    rebuilt = plain + await rebuild_seconds(platform.dsn["lineage"], bodies, blobs)
    await client.close()
    return [
        Figure("typed_fold_over_raw_consumer", folded / plain, 3, "lower"),
        Figure("rebuild_in_postgresql_over_raw_consumer", rebuilt / plain, 10, "lower"),
    ]


def figures(count: int) -> list[Figure]:
    """`count` events of whole runs: every kind that a run writes, in its real share."""
    with tempfile.TemporaryDirectory(prefix="kadath-bench-") as folder:
        found = history.recorded(Path(folder) / "run")
        with kernel(Path(folder) / "fold", *(voice(name) for name in SERVICES)) as running:
            return running.run(measured(running, found, count))


if __name__ == "__main__":
    import sys

    from bench.report import show

    show(figures(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000))
