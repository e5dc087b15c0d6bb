"""The projection that keeps lineage's tables, and the connection pool it writes through."""

import json
from collections.abc import Iterable
from itertools import groupby

import asyncpg

from schemas import Event, Recorded
from services.kit.projections import Connection, Projection
from services.lineage.projections import activity, agents, runs, usage
from services.lineage.projections.runs import Read
from services.lineage.projections.writes import Write

TABLES = (
    "runs", "epochs", "leaderboard", "population", "ancestry", "genomes", "proposals", "attempts",
    "model_calls", "failed_calls", "activity",
)  # fmt: skip
HANDLES: tuple[type[Event], ...] = tuple(
    dict.fromkeys((*runs.HANDLES, *agents.HANDLES, *usage.HANDLES, *activity.HANDLES))
)


def projection(read: Read) -> Projection:
    """`read` gives the content of a blob: leaderboards lie beside their event."""

    async def apply(connection: Connection, batch: list[Recorded]) -> None:
        writes = [write for recorded in batch for write in writes_of(recorded, read)]
        for sql, group in groupby(_by_table(writes), key=lambda write: write.sql):
            await connection.executemany(sql, [write.args for write in group])

    return Projection("lineage", HANDLES, apply, TABLES)


def writes_of(recorded: Recorded, read: Read) -> list[Write]:
    """What one event changes in any table."""
    found = [*runs.writes(recorded, read), *agents.writes(recorded), *usage.writes(recorded)]
    if type(recorded.data) in activity.HANDLES:
        found += activity.writes(recorded)
    return found


def _by_table(writes: Iterable[Write]) -> list[Write]:
    """Tables do not depend on each other: only the order within one matters."""
    return sorted(writes, key=lambda write: TABLES.index(_table(write.sql)))


def _table(sql: str) -> str:
    words = sql.split(None, 3)
    return words[1] if words[0] == "update" else words[2]


async def open_pool(dsn: str) -> asyncpg.Pool:
    return await asyncpg.create_pool(dsn, min_size=1, max_size=4, init=_codecs)


async def _codecs(connection: Connection) -> None:
    await connection.set_type_codec(
        "jsonb", encoder=json.dumps, decoder=json.loads, schema="pg_catalog"
    )
