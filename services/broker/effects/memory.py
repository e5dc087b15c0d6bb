"""The memories' projection in PostgreSQL, and the search over it."""

import asyncio

import asyncpg

from schemas import Recorded
from schemas.events.memory import MemoryPublished, MemoryRated
from services.broker.core import ranking
from services.broker.core.lineage import Link
from services.broker.core.ranking import Candidate, Scope, Scored, Vote
from services.broker.core.view import View
from services.kit.engine import Context
from services.kit.projections import Connection, Projection, Projector

NAME = "memory"
SUBJECT = "kadath.evt.*.memory.>"
MAX_VISIBLE = 500
PAGE = 500
FRESH_SECONDS = 2.0

PUBLISH = """
insert into memories (run, record, agent, kind, summary, body, has_evidence, visibility,
                      content_sha, epoch, seq)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
on conflict (run, record) do nothing
"""
RATE = """
insert into ratings (run, record, rater, value, seq) values ($1, $2, $3, $4, $5)
on conflict (run, record, rater) do update set value = excluded.value, seq = excluded.seq
where ratings.seq < excluded.seq
"""
SEARCH = """
select record, agent, kind, summary, body, has_evidence, content_sha, epoch, seq, visibility
from memories
where run = $1
  and ($2 = '' or words @@ to_tsquery('pg_catalog.simple', $2)
       or (summary || ' ' || body) ilike any ($3::text[]))
  and ((visibility = 'population' and seq <= $8) or agent = $4
       or exists (select 1 from unnest($5::text[], $6::bigint[]) line(agent, until)
                  where line.agent = memories.agent and memories.seq <= line.until))
order by epoch desc nulls last, record
limit $7
"""
VOTES = "select record, rater, value from ratings where run = $1 and record = any ($2::text[]) "
VOTES += "and seq <= $3"


async def apply(connection: Connection, batch: list[Recorded]) -> None:
    """Rows keyed by the fact, so that a repeat changes nothing."""
    await connection.execute("select set_config('kadath.projector', 'on', true)")
    for recorded in batch:
        match recorded.data:
            case MemoryPublished() as data:
                await connection.execute(PUBLISH, *_row(recorded, data))
            case MemoryRated() as data:
                await connection.execute(
                    RATE, recorded.run, data.record, data.rater, data.value, recorded.seq
                )


def _row(recorded: Recorded, data: MemoryPublished) -> tuple[object, ...]:
    return (
        recorded.run, data.record, data.agent, data.kind, data.summary, data.body,
        bool(data.evidence_refs), data.visibility, data.content_sha, recorded.envelope.epoch,
        recorded.seq,
    )  # fmt: skip


PROJECTION = Projection(NAME, (MemoryPublished, MemoryRated), apply, ("memories", "ratings"))


class Memories:
    """Search over what has been projected; waits until a reader sees its own writes."""

    def __init__(self, pool: asyncpg.Pool, projector: Projector) -> None:
        self._pool = pool
        self._projector = projector

    async def search(
        self, view: View, agent: str, epoch: int | None, query: str, limit: int
    ) -> list[Scored]:
        """Own, inherited and published records, best first."""
        async with asyncio.timeout(FRESH_SECONDS):
            await self._projector.wait_for(view.memory_seq)
        line = view.ancestry.chain(agent)
        rows, votes = await self._rows(view.run, agent, line, query, view.horizon)
        candidates = [_candidate(row, agent, line) for row in rows]
        return ranking.rank(candidates, query, votes, view.trust, agent, epoch, limit)

    async def _rows(
        self, run: str, agent: str, line: list[Link], query: str, horizon: int
    ) -> tuple[list[asyncpg.Record], list[Vote]]:
        wanted = ranking.terms(query)
        words = " | ".join(f"'{term}'" for term in wanted)
        agents, until = [link.agent for link in line], [link.until for link in line]
        async with self._pool.acquire() as connection, connection.transaction(readonly=True):
            await connection.execute(
                "select set_config('kadath.run', $1, true), set_config('kadath.line', $2, true)",
                run,
                ",".join([agent, *agents]),
            )
            like = [f"%{_literal(term)}%" for term in wanted]
            rows = await connection.fetch(
                SEARCH, run, words, like, agent, agents, until, MAX_VISIBLE, horizon
            )
            votes = await connection.fetch(VOTES, run, [r["record"] for r in rows], horizon)
        return rows, [Vote(*vote) for vote in votes]

    async def close(self) -> None:
        await self._projector.close()
        await self._pool.close()


def _literal(term: str) -> str:
    return term.replace("\\", "\\\\").replace("_", "\\_").replace("%", "\\%")


def _candidate(row: asyncpg.Record, agent: str, line: list[Link]) -> Candidate:
    return Candidate(
        record=row["record"],
        agent=row["agent"],
        kind=row["kind"],
        summary=row["summary"],
        body=row["body"],
        has_evidence=row["has_evidence"],
        content_sha=row["content_sha"],
        scope=_scope(row, agent, line),
        epoch=row["epoch"],
        seq=row["seq"],
    )


def _scope(row: asyncpg.Record, agent: str, line: list[Link]) -> Scope:
    inherited = any(link.agent == row["agent"] and row["seq"] <= link.until for link in line)
    if inherited:
        return "inherited"
    return "own" if row["agent"] == agent else "population"


async def start(context: Context) -> Memories:
    """Bring the projection up to the log, then follow it."""
    engine = context.engine
    assert engine.follower is not None
    pool = await asyncpg.create_pool(context.platform.dsn["broker"], min_size=1, max_size=4)
    projector = Projector(pool, (PROJECTION,))
    await projector.start(engine.follower.seq)
    await _catch_up(context, projector)
    handled = PROJECTION.handles

    def listen(recorded: Recorded) -> None:
        if type(recorded.data) in handled:
            projector.offer(recorded)

    engine.listeners.append(listen)
    return Memories(pool, projector)


async def _catch_up(context: Context, projector: Projector) -> None:
    """The follower has passed these already: listeners see only what comes after."""
    while batch := await context.log.read(SUBJECT, projector.seq, PAGE):
        await projector.apply(batch)
