"""Brings the broker up: calls, gateway, memory projection; closes doors of ended attempts."""

import asyncio
from collections.abc import Awaitable, Callable

from schemas import Recorded
from schemas.events.attempt import AttemptFinished
from services.broker.effects import memory
from services.broker.effects.calls import Calls
from services.broker.effects.route import Route
from services.broker.effects.secrets import RunSecrets
from services.broker.effects.web import Web
from services.broker.gateway.app import Gateway
from services.broker.gateway.doors import Doors
from services.kit.engine import Context

GRANT_KEY = "grants"


async def start(context: Context) -> Callable[[], Awaitable[None]]:
    """What it returns ends everything again."""
    secrets = RunSecrets(context)
    route = Route(context.platform, secrets)
    calls = Calls(context, route, secrets)
    doors = Doors(context.platform.sockets / "g", context.platform.keys[GRANT_KEY])
    gateway = Gateway(context, doors)
    memories = await memory.start(context)
    web = Web()
    context.resources.update(secrets=secrets, calls=calls, doors=doors, memories=memories, web=web)
    await gateway.start()
    closing = _close_with_attempts(context, doors)

    async def close() -> None:
        await gateway.close()
        await calls.close()
        await route.close()
        await memories.close()
        await web.close()
        await asyncio.gather(*closing, return_exceptions=True)

    return close


def _close_with_attempts(context: Context, doors: Doors) -> set[asyncio.Task[None]]:
    """A door closes as soon as the log says that its attempt is over."""
    closing: set[asyncio.Task[None]] = set()

    def listen(recorded: Recorded) -> None:
        if isinstance(recorded.data, AttemptFinished):
            task = asyncio.create_task(doors.close(recorded.run, recorded.entity_id))
            closing.add(task)
            task.add_done_callback(closing.discard)

    context.engine.listeners.append(listen)
    return closing
