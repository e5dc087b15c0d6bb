"""What an organism can reach: chat, memory, activity, budget. One app on many sockets."""

import hmac
from collections.abc import Awaitable, Callable

from aiohttp import web

from schemas.values.capability import CAPABILITIES
from services.broker.core import budget
from services.broker.core.view import View
from services.broker.gateway import chat, notes
from services.broker.gateway import web as pages
from services.broker.gateway.doors import Door, Doors
from services.broker.gateway.reply import refused
from services.kit import edges
from services.kit.engine import Context
from services.kit.errors import KitError

MAX_BODY_BYTES = 4 << 20
Answer = Callable[[Context, Door, web.Request], Awaitable[web.StreamResponse]]


class Gateway:
    """Checks who asks, then hands over."""

    def __init__(self, context: Context, doors: Doors) -> None:
        self._context = context
        self._doors = doors
        self._app = web.Application(client_max_size=MAX_BODY_BYTES)
        for method, path, scope, answer in ROUTES:
            self._app.router.add_route(method, path, self._guarded(scope, answer))
        self._runner = web.AppRunner(
            self._app, access_log=None, shutdown_timeout=1.0, keepalive_timeout=30.0
        )

    async def start(self) -> None:
        await self._runner.setup()
        self._doors.attach(self._runner)

    async def close(self) -> None:
        await self._runner.cleanup()

    def _guarded(
        self, scope: str, answer: Answer
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def guarded(request: web.Request) -> web.StreamResponse:
            door = self._door(request)
            if door is None:
                return refused(403, "forbidden", "no valid token for this socket")
            if door.expired():
                return refused(403, "expired", "the time of this attempt is over")
            if scope not in door.grant.scopes and "trial" not in door.grant.scopes:
                if scope in CAPABILITIES:
                    return await pages.not_approved(self._context, door, scope)
                return refused(403, "forbidden", f"this attempt may not use {scope}")
            try:
                return await answer(self._context, door, request)
            except (UnicodeError, ValueError):
                return refused(400, "invalid_request", "the body must be one JSON object")
            except KitError as error:
                return refused(503, "unavailable", str(error))

        return guarded

    def _door(self, request: web.Request) -> Door | None:
        transport = request.transport
        if transport is None:
            return None
        door = self._doors.of(str(transport.get_extra_info("sockname")))
        given = request.headers.get("Authorization", "").encode(errors="replace")
        if door is None or not hmac.compare_digest(given, door.token):
            return None
        return door


async def _budget(context: Context, door: Door, request: web.Request) -> web.StreamResponse:
    view: View = context.view(door.run)
    return web.json_response(budget.report(view, edges.now()))


async def _absent(context: Context, door: Door, request: web.Request) -> web.StreamResponse:
    return refused(501, "not_built", "this kernel does not have it")


ROUTES: tuple[tuple[str, str, str, Answer], ...] = (
    ("POST", "/v1/chat/completions", "chat", chat.completions),
    ("GET", "/v1/models", "chat", chat.models),
    ("POST", "/memory", "memory", notes.publish),
    ("GET", "/memory", "memory", notes.search),
    ("POST", "/memory/ratings", "memory", notes.rate),
    ("POST", "/activity", "activity", notes.activity),
    ("GET", "/budget", "budget", _budget),
    ("GET", "/web/search", "web_search", pages.search),
    ("GET", "/web/page", "web_fetch", pages.fetch),
    ("*", "/browser{rest:.*}", "browser", _absent),
    ("*", "/workers{rest:.*}", "workers", _absent),
)
