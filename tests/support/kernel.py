"""The real embedded kernel with some services, driven from synchronous tests."""

import asyncio
import contextlib
import importlib
import shutil
from collections.abc import AsyncIterator, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

from kadath import embedded, home
from kadath.home import Home
from schemas import Draft, Envelope, Recorded
from schemas.base import Value
from services.kit.engine import Context, Engine
from services.kit.runner import Running
from services.kit.service import Service

T = TypeVar("T")


class Nothing:
    """A fold that keeps nothing."""

    def __init__(self, run: str, read: object) -> None: ...

    def apply(self, recorded: Recorded) -> None: ...


def voice(name: str) -> Service:
    """A service without behaviour: lets a test write what the real one would."""
    return Service(name=name, view=Nothing, handles=())


def real(name: str) -> Service:
    service: Service = importlib.import_module(f"services.{name}.service").SERVICE
    return service


class Kernel:
    """`run(coroutine)` works inside the kernel's loop; events live on between calls."""

    def __init__(self, runner: "asyncio.Runner", where: Home) -> None:
        self._runner = runner
        self.where = where
        self.running: Running

    @property
    def engine(self) -> Engine:
        return self.running.engine

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def context(self, service: str) -> Context:
        return self.engine.contexts[service]

    async def say(self, service: str, run: str, *drafts: Draft) -> list[Envelope]:
        """Append as `service`; every fold has it when this returns."""
        said = list(drafts)
        return await self.context(service).transact(run, f"{service}/test", lambda v, now: said)

    async def call(self, caller: str, service: str, rpc: str, ask: Value) -> bytes:
        return await self.context(caller).call(service, rpc, ask, timeout=60)

    async def log(self, run: str) -> list[Recorded]:
        """Every event of a run as the log holds it."""
        context = next(iter(self.engine.contexts.values()))
        return await context.log.read(f"kadath.evt.{run}.>", 0, 10_000)

    async def until(self, true: Any, seconds: float = 20.0) -> None:
        """Wait until `true()`; events are what changes it."""
        async with asyncio.timeout(seconds):
            while not true():  # noqa: ASYNC110
                await asyncio.sleep(0.01)


@contextlib.contextmanager
def kernel(
    folder: Path, *services: Service, tape: str | None = None, keep: bool = False
) -> Iterator[Kernel]:
    """nats-server, PostgreSQL and `services` up, in a home under `folder`."""
    where = home.find(folder / ".kadath")
    with asyncio.Runner() as runner:
        found = Kernel(runner, where)
        stack = contextlib.AsyncExitStack()
        try:
            found.running = runner.run(stack.enter_async_context(_up(where, services, tape)))
            yield found
        finally:
            runner.run(stack.aclose())
            if not keep:
                shutil.rmtree(where.state, ignore_errors=True)


@contextlib.asynccontextmanager
async def _up(
    where: Home, services: tuple[Service, ...], tape: str | None
) -> AsyncIterator[Running]:
    everything = embedded.all_services
    embedded.all_services = lambda: services
    try:
        async with embedded.embedded(where, tape=tape) as running:
            yield running
    finally:
        embedded.all_services = everything
