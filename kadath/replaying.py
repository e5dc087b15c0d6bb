"""Replay of a run: read models from zero, decisions again, or the whole run on tape."""

import contextlib
import os
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg

from kadath import home, keys, postgres
from kadath.audit import redecide
from kadath.cli.client import Session
from schemas import Recorded, canonical, digest, subjects
from schemas.events.leaderboard import LeaderboardPublished
from schemas.events.run import RunRequested
from services.kit.supervisor import Supervisor
from services.lineage.projections.projection import open_pool
from services.lineage.projections.rebuild import digests, rebuild


async def log_of(client: Session, run: str) -> list[Recorded]:
    """Every event of the run. Raises `LookupError` when there is none."""
    found = [r async for r in client.events(subjects.of_run(run), lambda r: False, follow=False)]
    if not found:
        raise LookupError(run)
    return found


def leaderboard_digest(log: list[Recorded]) -> str:
    """Ranks, agents, genomes, outcomes, scores and tie-breaks of every epoch."""
    boards = [r.data.rows.sha256 for r in log if isinstance(r.data, LeaderboardPublished)]
    return digest(canonical(boards))


def decided_again(log: list[Recorded], client: Session) -> redecide.Report:
    """Fold to `seen`, decide, compare bytes, for every decision of the run."""
    return redecide.redecide(log, client.blobs.get)


async def rebuilt(client: Session, log: list[Recorded], run: str) -> dict[str, Any]:
    """The read models of the run in a second, empty database, compared with the live ones."""
    live = await _live(client, run)
    with tempfile.TemporaryDirectory(prefix="kadath-replay-") as folder:
        async with second_database(Path(folder)) as pool:
            fresh = await rebuild(pool, log, client.blobs.get)
    differing = sorted(table for table in live if live[table] != fresh.get(table))
    return {"tables": len(live), "equal": not differing, "differing": differing, "digests": fresh}


async def _live(client: Session, run: str) -> dict[str, str]:
    found = keys.load(client.home.folder)
    dsn = postgres.dsn(client.home.sockets, "lineage", found.passwords["lineage"])
    pool = await open_pool(dsn)
    try:
        return await digests(pool, run)
    finally:
        await pool.close()


@contextlib.asynccontextmanager
async def second_database(folder: Path) -> AsyncIterator[asyncpg.Pool]:
    """A PostgreSQL of its own, empty but for the migrations, gone afterwards."""
    state, sockets = folder / "state", folder / "run"
    for part in (state, sockets):
        part.mkdir(mode=0o711)
    os.chmod(folder, 0o711)
    found, owner = keys.load(folder), home.sandbox_user()
    supervisor = Supervisor()
    try:
        data = postgres.initialise(state, found, owner)
        await supervisor.start(postgres.unit(state, sockets, data, owner))
        root = Path(__file__).parent.parent / "services"
        await postgres.migrate(sockets, found, {"lineage": root / "lineage" / "sql"})
        dsn = postgres.dsn(sockets, "lineage", found.passwords["lineage"])
        pool = await open_pool(dsn)
        try:
            yield pool
        finally:
            await pool.close()
    finally:
        await supervisor.stop()


def request_of(log: list[Recorded]) -> RunRequested:
    """What the run was asked for, to ask for it once more; a person need not approve again."""
    request = next(r.data for r in log if isinstance(r.data, RunRequested))
    return request.model_copy(update={"approve": "automatic", "name": f"tape of {request.name}"})
