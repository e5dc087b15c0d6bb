"""Who may ask: the bearer of the token, from this machine's own pages."""

import hmac
from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Middleware

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
OPEN = ("/healthz",)


def guard(token: str) -> Middleware:
    """Refuse foreign hosts (DNS rebinding), foreign origins, and whoever has no token."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not _local(request.host):
            raise web.HTTPMisdirectedRequest(text="unknown host")
        origin = request.headers.get("Origin")
        if origin is not None and origin != f"http://{request.host}":
            raise web.HTTPForbidden(text="foreign origin")
        if request.path not in OPEN and not _holds(request, token):
            raise web.HTTPUnauthorized(headers={"WWW-Authenticate": "Bearer"})
        response = await handler(request)
        response.headers.update({"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"})
        return response

    return middleware


def _local(host: str) -> bool:
    return host.rpartition(":")[0] in ("127.0.0.1", "localhost")


def _holds(request: web.Request, token: str) -> bool:
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return hmac.compare_digest(given.encode(), token.encode())
