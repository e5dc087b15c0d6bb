"""The read API: loopback only, one token, JSON. It shows read models and decides nothing."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import asyncpg
from aiohttp import web

from services.kit import edges
from services.kit.engine import Context
from services.kit.projections import Projector
from services.lineage import files
from services.lineage.web import queries
from services.lineage.web.guard import guard
from services.lineage.web.queries import ask

WAIT_SECONDS = 25.0


class Api(NamedTuple):
    url: str
    token: str
    close: Callable[[], Awaitable[None]]


async def serve(context: Context, pool: asyncpg.Pool, projector: Projector) -> Api:
    """Listen on a free loopback port under a fresh token."""
    token = edges.random_bytes(24).hex()
    pages = Pages(context, pool, projector)
    app = web.Application(middlewares=[guard(token)])
    app.add_routes(pages.routes())
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    return Api(f"http://127.0.0.1:{port}", token, runner.cleanup)


class Pages:
    """One method a question."""

    def __init__(self, context: Context, pool: asyncpg.Pool, projector: Projector) -> None:
        self._context = context
        self._pool = pool
        self._projector = projector

    def routes(self) -> list[web.RouteDef]:
        run = "/api/runs/{run}"
        return [
            web.get("/healthz", self.health),
            web.get("/api/wait", self.wait),
            web.get("/api/runs", self.runs),
            web.get(run, self.run),
            web.get(f"{run}/wait", self.wait),
            web.get(f"{run}/leaderboard", self.leaderboard),
            web.get(f"{run}/epochs", self.rows(queries.EPOCHS, "epochs")),
            web.get(f"{run}/population", self.rows(queries.POPULATION, "population")),
            web.get(f"{run}/lineage", self.lineage),
            web.get(f"{run}/attempts", self.attempts),
            web.get(f"{run}/usage", self.usage),
            web.get(f"{run}/activity", self.activity),
            web.get(f"{run}/genomes/{{genome}}", self.genome),
            web.get(f"{run}/genomes/{{genome}}/files", self.files),
            web.get(f"{run}/genomes/{{genome}}/diff", self.diff),
        ]

    async def health(self, request: web.Request) -> web.Response:
        """Healthy: the follower is there, and the read models are close behind it."""
        follower = self._context.engine.follower
        head = follower.seq if follower else 0
        lag = max(head - self._projector.seq, 0)
        found = {"ok": lag < 10_000, "seq": head, "projected": self._projector.seq, "lag": lag}
        return web.json_response(found, status=200 if found["ok"] else 503)

    async def wait(self, request: web.Request) -> web.Response:
        """Answer once everything up to `seq` can be queried, or with less after `timeout`."""
        seq = whole(request, "seq", 0)
        seconds = min(float(whole(request, "timeout", int(WAIT_SECONDS))), WAIT_SECONDS)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._projector.wait_for(seq), seconds)
        reached = self._projector.seq
        return web.json_response({"seq": reached, "reached": reached >= seq})

    async def runs(self, request: web.Request) -> web.Response:
        found = await self._pool.fetch(queries.RUNS)
        rows = [{"run": row["run"], **queries.plain(row)} for row in found]
        return web.json_response({"runs": rows})

    async def run(self, request: web.Request) -> web.Response:
        """The run, its attempts by state, and how far the read models are."""
        run = request.match_info["run"]
        row = await self._known(run)
        attempts = await ask(self._pool, queries.ATTEMPTS, run)
        return web.json_response(
            {"run": run, **row, "attempts": attempts, "seq": self._projector.seq}
        )

    async def leaderboard(self, request: web.Request) -> web.Response:
        """The board of `epoch`, or the last one."""
        run = request.match_info["run"]
        await self._known(run)
        last = await self._pool.fetchval(queries.LAST_BOARD, run)
        epoch = whole(request, "epoch", last if last is not None else 0)
        rows = await ask(self._pool, queries.LEADERBOARD, run, epoch)
        return web.json_response({"run": run, "epoch": epoch, "rows": rows})

    async def lineage(self, request: web.Request) -> web.Response:
        run = request.match_info["run"]
        await self._known(run)
        changes = await ask(self._pool, queries.ANCESTRY, run)
        found = await ask(self._pool, queries.GENOMES, run)
        proposals = await ask(self._pool, queries.PROPOSALS, run)
        answer = {"run": run, "changes": changes, "genomes": found, "proposals": proposals}
        return web.json_response(answer)

    async def attempts(self, request: web.Request) -> web.Response:
        run = request.match_info["run"]
        await self._known(run)
        epoch = whole(request, "epoch", 0) if "epoch" in request.query else None
        rows = await ask(self._pool, queries.EPOCH_ATTEMPTS, run, epoch)
        return web.json_response({"run": run, "attempts": rows})

    async def usage(self, request: web.Request) -> web.Response:
        run = request.match_info["run"]
        await self._known(run)
        answer = {
            "run": run,
            "roles": await ask(self._pool, queries.USAGE, run),
            "agents": await ask(self._pool, queries.AGENT_USAGE, run),
            "failed": await ask(self._pool, queries.FAILED_CALLS, run),
        }
        return web.json_response(answer)

    async def activity(self, request: web.Request) -> web.Response:
        """The newest first; `after` is a sequence already seen."""
        run = request.match_info["run"]
        await self._known(run)
        limit = min(whole(request, "limit", 50), 1000)
        rows = await ask(self._pool, queries.ACTIVITY, run, limit, whole(request, "after", 0))
        return web.json_response({"run": run, "activity": rows})

    async def genome(self, request: web.Request) -> web.Response:
        return web.json_response(await self._genome(request))

    async def files(self, request: web.Request) -> web.Response:
        """The files of a genome; with `path`, the text of one."""
        row = await self._genome(request)
        path = request.query.get("path")
        answer = await asyncio.to_thread(files.listing, self._context.blobs, row["files_sha"], path)
        if answer is None:
            raise web.HTTPNotFound(text=f"the genome has no file {path}")
        return web.json_response(answer)

    async def diff(self, request: web.Request) -> web.Response:
        """Against the parent or the seed, as one unified text and per file."""
        row = await self._genome(request)
        run = request.match_info["run"]
        against = request.query.get("against", "parent")
        if against == "parent" and row["parent"]:
            other = (await ask(self._pool, queries.GENOME, run, row["parent"]))[0]["files_sha"]
        elif against in ("parent", "seed"):  # generation one stands on the seed
            other = (await self._known(run))["seed_sha"]
        else:
            raise web.HTTPBadRequest(text="against is `parent` or `seed`")
        changes = await asyncio.to_thread(files.diff, self._context.blobs, other, row["files_sha"])
        text = "".join(change["diff"] for change in changes)
        answer = {"genome": row["genome"], "against": against, "files": changes, "diff": text}
        return web.json_response(answer)

    def rows(self, sql: str, name: str) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def answer(request: web.Request) -> web.StreamResponse:
            run = request.match_info["run"]
            await self._known(run)
            return web.json_response({"run": run, name: await ask(self._pool, sql, run)})

        return answer

    async def _known(self, run: str) -> dict[str, object]:
        found = await ask(self._pool, queries.RUN, run)
        if not found:
            raise web.HTTPNotFound(text=f"run {run} is not known")
        return found[0]

    async def _genome(self, request: web.Request) -> dict[str, str]:
        """A genome by its id, or by the first characters of it if they are enough."""
        run, name = request.match_info["run"], request.match_info["genome"]
        rows = await ask(self._pool, queries.GENOME_LIKE, run, name)
        if len(rows) != 1:
            raise web.HTTPNotFound(text=f"{len(rows)} genomes of {run} begin with {name}")
        return rows[0]


def whole(request: web.Request, name: str, default: int) -> int:
    """A whole number of the query. Raises a 400 on anything else."""
    text = request.query.get(name)
    if text is None:
        return default
    try:
        return int(text)
    except ValueError:
        raise web.HTTPBadRequest(text=f"{name} is a whole number") from None
