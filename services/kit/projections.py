"""Read models in PostgreSQL. The position is saved in the same transaction as the rows."""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import asyncpg

from schemas import Event, Recorded

logger = logging.getLogger(__name__)

BATCH = 500
PAUSE_SECONDS = 0.25

Connection = Any  # asyncpg ships no types


@dataclass(frozen=True)
class Projection:
    """`apply` must be harmless to repeat; `tables` are emptied when it is rebuilt."""

    name: str
    handles: tuple[type[Event], ...]
    apply: Callable[[Connection, list[Recorded]], Awaitable[None]]
    tables: tuple[str, ...]


class Projector:
    """Applies events to projections in batches, and knows how far it has come."""

    def __init__(self, pool: asyncpg.Pool, projections: tuple[Projection, ...]) -> None:
        self._pool = pool
        self._projections = projections
        self._queue: deque[Recorded] = deque()
        self._wake = asyncio.Event()
        self._wanted = asyncio.Event()
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self.seq = 0

    async def start(self, head: int) -> None:
        """Begin behind what the checkpoint holds; a checkpoint beyond the log is discarded."""
        async with self._pool.acquire() as connection:
            self.seq = min([await self._position(connection, p.name) for p in self._projections])
            if self.seq > head:
                logger.warning("projections are at %d, the log at %d: rebuilding", self.seq, head)
                await self.reset(connection)
        self._task = asyncio.create_task(self._work())

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def reset(self, connection: Connection) -> None:
        """Empty every table and start from zero."""
        async with connection.transaction():
            for projection in self._projections:
                for table in projection.tables:
                    await connection.execute(f"truncate {table}")
                await self._save(connection, projection.name, 0)
        self.seq = 0

    def offer(self, recorded: Recorded) -> None:
        """Called by the follower for every event."""
        if recorded.seq > self.seq:
            self._queue.append(recorded)
            self._wake.set()

    async def wait_for(self, seq: int) -> None:
        """Return once everything up to `seq` can be queried."""
        if self.seq < seq:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((seq, future))
            self._wanted.set()
            await future

    async def _work(self) -> None:
        while True:
            await self._wake.wait()
            await self._gather()
            self._wake.clear()
            while self._queue:
                batch = [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]
                await self._apply_until_done(batch)

    async def _gather(self) -> None:
        """Let a batch grow, unless somebody waits for its rows."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._wanted.wait(), PAUSE_SECONDS)

    async def _apply_until_done(self, batch: list[Recorded]) -> None:
        delay = 0.1
        while True:
            try:
                await self.apply(batch)
                return
            except (asyncpg.PostgresError, OSError) as error:
                logger.warning("projection waits %.1f s: %s", delay, error)
                await asyncio.sleep(delay)
                delay = min(delay * 2, 10.0)

    async def apply(self, batch: list[Recorded]) -> None:
        """One transaction: the rows of every projection and their position."""
        last = batch[-1].seq
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute("set local synchronous_commit = off")
            for projection in self._projections:
                mine = [r for r in batch if type(r.data) in projection.handles]
                if mine:
                    await projection.apply(connection, mine)
                await self._save(connection, projection.name, last)
        self._passed(last)

    def _passed(self, seq: int) -> None:
        self.seq = seq
        for wanted, future in self._waiting:
            if wanted <= seq and not future.done():
                future.set_result(None)
        self._waiting = [(w, f) for w, f in self._waiting if w > seq]
        if not self._waiting:
            self._wanted.clear()

    async def _position(self, connection: Connection, name: str) -> int:
        row = await connection.fetchval("select last_seq from checkpoints where name = $1", name)
        return int(row or 0)

    async def _save(self, connection: Connection, name: str, seq: int) -> None:
        await connection.execute(
            "insert into checkpoints (name, last_seq) values ($1, $2) "
            "on conflict (name) do update set last_seq = excluded.last_seq",
            name,
            seq,
        )
