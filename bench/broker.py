"""What the broker adds to a model call, against the same instant server asked directly.

Server, clients and kernel are three processes on one machine; the kernel writes every request,
answer and event as in a run. `python -m bench.broker` prints the broker's figures alone.
"""

import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp

from bench.report import Figure, show
from tests.integration.broker.stage import CAST, Stage
from tests.support.kernel import kernel

AGENTS = 32
CHAT = "/v1/chat/completions"


class Spread(NamedTuple):
    """Latencies of measured calls, in seconds."""

    measured: list[float]
    others: int

    @property
    def ms(self) -> float:
        return 1000 * statistics.median(self.measured)


@contextlib.contextmanager
def instant() -> Iterator[str]:
    command = [sys.executable, "-m", "bench.instant_model"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            yield child.stdout.readline().strip()
        finally:
            child.kill()


async def load(url: str, calls: int, callers: list[dict[str, Any]]) -> Spread:
    command = (sys.executable, "-m", "bench.callers")
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    asked = {"url": url, "calls": calls, "callers": callers}
    out, _ = await child.communicate(json.dumps(asked).encode())
    assert child.returncode == 0, "the callers failed"
    return Spread(**json.loads(out))


def caller(socket: str | None, token: str, parallel: int = 1, measured: bool = True) -> Any:
    return {"socket": socket, "token": token, "parallel": parallel, "measured": measured}


class Scene:
    """A run with 32 agents at the broker, and the instant server."""

    def __init__(self, stage: Stage, url: str) -> None:
        self._stage = stage
        self._url = url
        self._agents: list[tuple[str, str]] = []

    async def open(self) -> None:
        await self._stage.open(f"{self._url}/v1")

    async def fresh(self, count: int) -> list[tuple[str, str]]:
        """Agents that have asked nothing yet: a question asked before is answered from the log."""
        first = len(self._agents)
        for n in range(first, first + count):
            token = await self._stage.token(f"a{n:04d}", seconds=3600)
            self._agents.append((f"{token.socket_dir}/gateway.sock", token.token))
        return self._agents[first:]

    async def direct(self, concurrent: int, calls: int) -> Spread:
        return await load(self._url + CHAT, calls, [caller(None, "")] * concurrent)

    async def through(self, concurrent: int, calls: int) -> Spread:
        agents = [caller(*agent) for agent in await self.fresh(concurrent)]
        return await load(f"http://gateway{CHAT}", calls, agents)

    async def beside(self, others: int, parallel: int, calls: int) -> Spread:
        """One polite agent's calls beside `others` agents with `parallel` calls each."""
        (first, *rest) = await self.fresh(1 + others)
        company = [caller(*agent, parallel=parallel, measured=False) for agent in rest]
        return await load(f"http://gateway{CHAT}", calls, [caller(*first), *company])

    async def counts(self) -> dict[str, int]:
        async with aiohttp.ClientSession() as http, http.get(f"{self._url}/counts") as reply:
            found: dict[str, int] = await reply.json()
            return found

    async def recorded(self) -> int:
        """Events on the log that record a call of this run."""
        view = self._stage.kernel.context("broker").view(self._stage.run)
        return len(view.journal)


async def measured(scene: Scene, many: int) -> list[Figure]:
    await scene.open()
    await scene.through(1, 50)
    alone = (await scene.through(1, 300)).ms - (await scene.direct(1, 300)).ms
    crowd = (await scene.through(AGENTS, 40)).ms - (await scene.direct(AGENTS, 40)).ms
    polite = await scene.beside(AGENTS - 1, 1, 100)
    flooded = await scene.beside(1, 64, 100)
    before, kept = await scene.counts(), await scene.recorded()
    began = time.monotonic()
    await scene.through(AGENTS, -(-many // AGENTS))
    took = time.monotonic() - began
    after = await scene.counts()
    asked, twice = after["calls"] - before["calls"], after["calls"] - after["distinct"]
    total = -(-many // AGENTS) * AGENTS
    print(
        f"# {total} calls in {took:.1f} s; beside 31 polite {polite.ms:.1f} ms, "
        f"beside a flood {flooded.ms:.1f} ms"
    )
    lost = abs(await scene.recorded() - kept - total) + abs(asked - total) + twice
    return [
        Figure("broker_overhead_ms_1", alone, 5, "lower"),
        Figure("broker_overhead_ms_32", crowd, 25, "lower"),
        Figure("broker_flood_against_polite", flooded.ms / polite.ms, 2, "lower"),
        Figure(f"broker_lost_or_doubled_of_{total}", lost, 0, "lower"),
    ]


def figures(many: int) -> list[Figure]:
    with (
        tempfile.TemporaryDirectory(prefix="kadath-bench-") as folder,
        instant() as url,
        kernel(Path(folder), *CAST) as found,
    ):
        return found.run(measured(Scene(Stage(found, "r20260101-000000-000001"), url), many))


if __name__ == "__main__":
    show(figures(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
