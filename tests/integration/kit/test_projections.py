"""Read models follow the log whatever happens to the database."""

import asyncio
from pathlib import Path
from typing import Any

import asyncpg

from kadath import keys
from schemas import Draft, Recorded
from schemas.events.run import RunPauseRequested
from services.kit.projections import Projection, Projector
from services.lineage.projections.projection import open_pool
from tests.support.kernel import Kernel, kernel, voice

RUN = "r1"


async def count(connection: Any, batch: list[Recorded]) -> None:
    for recorded in batch:
        await connection.execute(
            "insert into counted values ($1) on conflict do nothing", recorded.seq
        )


COUNTED = Projection("counted", (RunPauseRequested,), count, ("counted",))


async def projector(running: Kernel, head: int) -> tuple[asyncpg.Pool, Projector]:
    pool = await open_pool(running.context("lineage").platform.dsn["lineage"])
    await pool.execute("create table if not exists counted (seq bigint primary key)")
    made = Projector(pool, (COUNTED,))
    await made.start(head)
    return pool, made


async def say(running: Kernel, times: int) -> list[Recorded]:
    for _ in range(times):
        await running.say("scheduler", RUN, Draft("main", RunPauseRequested(mode="epoch")))
    return await running.log(RUN)


async def rows(pool: asyncpg.Pool) -> list[int]:
    return [row["seq"] for row in await pool.fetch("select seq from counted order by seq")]


async def offer(found: Projector, events: list[Recorded]) -> None:
    for recorded in events:
        found.offer(recorded)
    await found.wait_for(events[-1].seq)


def test_events_are_written_once_and_waited_for(tmp_path: Path):
    """A waiter that goes away hurts nobody; a second start goes on behind its checkpoint."""

    async def scene(running: Kernel) -> None:
        events = await say(running, 3)
        pool, found = await projector(running, events[-1].seq)
        impatient = asyncio.create_task(found.wait_for(events[0].seq))
        await asyncio.sleep(0)
        impatient.cancel()
        early = asyncio.create_task(found.wait_for(events[0].seq))
        await offer(found, events)
        await early
        await found.wait_for(events[-1].seq)
        assert await rows(pool) == [r.seq for r in events]
        await found.close()
        again, second = await projector(running, events[-1].seq)
        assert second.seq == events[-1].seq
        await offer(second, [*events, *(await say(running, 1))[-1:]])
        assert len(await rows(again)) == 4
        await second.close()
        await again.close()
        await pool.close()

    with kernel(tmp_path, voice("scheduler"), voice("lineage")) as running:
        running.run(scene(running))


def test_a_checkpoint_beyond_the_log_is_not_believed(tmp_path: Path):
    """The log is the truth: a log that was lost and begun anew is projected from its start."""

    async def scene(running: Kernel) -> None:
        events = await say(running, 2)
        pool, found = await projector(running, events[-1].seq)
        await offer(found, events)
        await found.close()
        shorter, second = await projector(running, events[0].seq)
        assert second.seq == 0
        assert await rows(pool) == []
        await offer(second, events[:1])
        assert await rows(pool) == [events[0].seq]
        await second.close()
        await shorter.close()
        await pool.close()

    with kernel(tmp_path, voice("scheduler"), voice("lineage")) as running:
        running.run(scene(running))


def test_a_database_that_goes_away_loses_nothing(tmp_path: Path):
    """Its connections are cut and the table is away for a moment: the batch is applied later."""

    async def scene(running: Kernel) -> None:
        events = await say(running, 2)
        pool, found = await projector(running, events[-1].seq)
        await pool.execute("alter table counted rename to away")
        await _cut(running)
        waiting = asyncio.create_task(offer(found, events))
        await asyncio.sleep(0.6)
        assert not waiting.done()
        await _later(pool.execute, "alter table away rename to counted")
        await asyncio.wait_for(waiting, 10)
        assert await rows(pool) == [r.seq for r in events]
        await found.close()
        await pool.close()

    with kernel(tmp_path, voice("scheduler"), voice("lineage")) as running:
        running.run(scene(running))


async def _cut(running: Kernel) -> None:
    """End every connection of the role, as a restart of the server would."""
    platform = running.context("lineage").platform
    password = keys.load(running.where.folder).passwords["postgres"]
    dsn = f"postgresql://postgres:{password}@/kadath?host={platform.sockets / 'pg'}"
    admin = await asyncpg.connect(dsn)
    await admin.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'lineage'"
    )
    await admin.close()


async def _later(execute: Any, sql: str) -> None:
    """A cut connection is noticed by its first use."""
    for _ in range(5):
        try:
            await execute(sql)
            return
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
            await asyncio.sleep(0.1)
    raise AssertionError(sql)
