"""Rebuilding read models from nothing, and comparing two of them."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import asyncpg

from schemas import Recorded
from services.kit.projections import BATCH, Projector
from services.lineage.projections.projection import TABLES, projection
from services.lineage.projections.runs import Read

SQL = Path(__file__).parent.parent / "sql"


async def create_tables(pool: asyncpg.Pool) -> None:
    """The tables in an empty schema: the first of the connection's search path."""
    async with pool.acquire() as connection, connection.transaction():
        for path in sorted(SQL.glob("*.sql")):
            await connection.execute(path.read_text(encoding="utf-8"))


async def rebuild(pool: asyncpg.Pool, recorded: Iterable[Recorded], read: Read) -> dict[str, str]:
    """Empty every table, apply `recorded`, and return the digests."""
    projector = Projector(pool, (projection(read),))
    async with pool.acquire() as connection:
        await projector.reset(connection)
    batch: list[Recorded] = []
    for item in recorded:
        batch.append(item)
        if len(batch) == BATCH:
            await projector.apply(batch)
            batch = []
    if batch:
        await projector.apply(batch)
    return await digests(pool)


async def digests(pool: asyncpg.Pool, run: str | None = None) -> dict[str, str]:
    """Table -> SHA-256 over its ordered rows. Times and stream positions are left out."""
    async with pool.acquire() as connection:
        return {table: await _digest(connection, table, run) for table in TABLES}


async def _digest(connection: asyncpg.Connection, table: str, run: str | None) -> str:
    columns = [
        row["column_name"]
        for row in await connection.fetch(
            "select column_name from information_schema.columns "
            "where table_schema = current_schema() and table_name = $1 order by column_name",
            table,
        )
    ]
    kept = ", ".join(c for c in columns if not c.endswith(("_at", "seq")))
    where = "where run = $1" if run else ""
    lines = await connection.fetch(
        f"select row_to_json(t)::text as line from (select {kept} from {table} {where}) t",
        *([run] if run else []),
    )
    found = hashlib.sha256()
    for line in sorted(row["line"] for row in lines):
        found.update(line.encode() + b"\n")
    return found.hexdigest()
