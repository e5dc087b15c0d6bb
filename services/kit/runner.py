"""Runs services in one process: one NATS user each, one follower for all of them."""

import asyncio
import contextlib
import gc
import logging
from collections.abc import AsyncIterator, Awaitable, Callable

from faststream.nats import NatsBroker
from nats.aio.client import Client

from schemas import subjects
from services.kit import commands, edges, streams
from services.kit.blobs import Blobs
from services.kit.connections import Connection, connect
from services.kit.engine import Context, Engine
from services.kit.follower import Follower
from services.kit.leases import Leases, consumer_name
from services.kit.log import Log
from services.kit.parking import Parking
from services.kit.platform import Platform
from services.kit.service import Service

logger = logging.getLogger(__name__)


class Running:
    """Services that are up. `close` ends them in the reverse order of their start."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.closers: list[Callable[[], Awaitable[object]]] = []

    def then(self, closer: Callable[[], Awaitable[object]]) -> None:
        self.closers.append(closer)

    async def close(self) -> None:
        for closer in reversed(self.closers):
            with contextlib.suppress(Exception):
                await asyncio.wait_for(closer(), timeout=15)


@contextlib.asynccontextmanager
async def running(
    services: tuple[Service, ...], platform: Platform, blobs: Blobs, secrets: edges.Secrets
) -> AsyncIterator[Running]:
    """Bring services up, give control while they work, and leave nothing behind."""
    _collect_rarely()
    state = Running(Engine(services, blobs, instance=edges.uuid7()[-8:]))
    try:
        await _start(state, services, platform, blobs, secrets)
        yield state
    finally:
        await state.close()


def _collect_rarely() -> None:
    """Folds keep many small objects without cycles: looking for garbage among them at the
    default pace costs a fifth of decoding."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


async def _start(
    state: Running,
    services: tuple[Service, ...],
    platform: Platform,
    blobs: Blobs,
    secrets: edges.Secrets,
) -> None:
    for service in services:
        connection = await _connect(state, platform, service.name)
        state.engine.contexts[service.name] = Context(
            service=service,
            engine=state.engine,
            log=Log(connection.client, secrets, connection.violations),
            blobs=blobs,
            parking=Parking(connection.client, service.name),
            platform=platform,
            client=connection.client,
            secrets=secrets,
        )
    await _follow(state, platform)
    for service in services:
        await _start_service(state, state.engine.contexts[service.name])
    for service in services:
        await _open_doors(state, platform, state.engine.contexts[service.name])
    state.then(state.engine.close)
    state.engine.go_live()
    for service in services:
        await _lease(state, state.engine.contexts[service.name])


async def _connect(state: Running, platform: Platform, user: str) -> Connection:
    connection = await connect(platform.nats_url, user, platform.nkeys[user])
    state.then(connection.client.close)
    return connection


async def _follow(state: Running, platform: Platform) -> None:
    connection = await _connect(state, platform, "follower")
    follower = Follower(connection.client, state.engine.apply)
    state.engine.follower = follower
    await follower.start()
    await follower.caught_up.wait()


async def _start_service(state: Running, context: Context) -> None:
    if context.service.start is not None:
        state.then(await context.service.start(context))


async def _open_doors(state: Running, platform: Platform, context: Context) -> None:
    """Commands and RPCs, on a broker of the service's own user."""
    name = context.service.name
    if not context.service.commands and not context.service.rpcs:
        return
    broker = NatsBroker(
        platform.nats_url,
        nkeys_seed_str=platform.nkeys[name],
        inbox_prefix=subjects.inbox(name),
        max_reconnect_attempts=-1,
        logger=None,
    )
    commands.subscribe(broker, context)
    await broker.start()
    state.then(broker.stop)


async def _lease(state: Running, context: Context) -> None:
    for effect in context.service.effects:
        lease = Leases(context.client, context, effect)
        await lease.start()
        state.then(lease.close)


async def deploy(client: Client, services: tuple[Service, ...]) -> None:
    """Streams, and effect consumers re-made at their floor: for whoever holds the lock."""
    await streams.apply(client)
    js = client.jetstream()
    for service in services:
        for effect in service.effects:
            name = consumer_name(service.name, effect)
            await streams.apply_consumer(js, name, subjects.of_kind(effect.on.type), effect.slots)
