"""The HTTP server: two OpenAI endpoints, and /stats for tests."""

import asyncio
from collections import Counter
from dataclasses import asdict, dataclass, field

from aiohttp import web

from kadath.offline import chat
from kadath.offline.faults import Fault, FaultPlan, Kind, spoiled
from kadath.offline.request import BadRequest, Json, Request, read
from kadath.offline.roles import answer
from kadath.offline.roles.refusal import Refused

MAX_BODY_BYTES = 64 * 1024 * 1024
FAULT_HEADER = "x-kadath-fault"


@dataclass
class Server:
    """Answers requests; remembers nothing but counts."""

    faults: FaultPlan = field(default_factory=FaultPlan)
    delay_seconds: float = 0.0
    requests: Counter[str] = field(default_factory=Counter)

    def app(self) -> web.Application:
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/stats", self._stats)
        return app

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response(chat.models())

    async def _stats(self, _: web.Request) -> web.Response:
        counts: Json = {
            "requests": sum(self.requests.values()),
            "roles": dict(sorted(self.requests.items())),
            "faults": [asdict(fault) for fault in self.faults.injected],
        }
        return web.json_response(counts)

    async def _chat(self, http: web.Request) -> web.StreamResponse:
        try:
            request = read(await http.json())
        except (BadRequest, ValueError) as error:
            return web.json_response(chat.error("invalid_request_error", str(error)), status=400)
        self.requests[request.role] += 1
        if self.delay_seconds:
            await asyncio.sleep(self.delay_seconds)
        return await self._answered(http, request, self.faults.next(request))

    async def _answered(
        self, http: web.Request, request: Request, fault: Fault | None
    ) -> web.StreamResponse:
        headers = {FAULT_HEADER: fault.id} if fault else {}
        if fault and fault.kind in (Kind.STATUS_429, Kind.STATUS_500):
            return _failed(fault, headers)
        if fault and fault.kind is Kind.STALL:
            await asyncio.sleep(self.faults.stall_seconds)
        try:
            text = answer(request)
        except Refused as no:
            return web.json_response(chat.error(no.kind, no.message), status=422, headers=headers)
        text, finish = spoiled(fault.kind, text) if fault else (text, "stop")
        if request.stream:
            return await _streamed(http, request, text, finish, headers)
        return web.json_response(chat.completion(request, text, finish), headers=headers)


def _failed(fault: Fault, headers: dict[str, str]) -> web.Response:
    if fault.kind is Kind.STATUS_429:
        body = chat.error("rate_limit_exceeded", "too many requests (injected)")
        return web.json_response(body, status=429, headers=headers | {"Retry-After": "0"})
    body = chat.error("server_error", "internal error (injected)")
    return web.json_response(body, status=500, headers=headers)


async def _streamed(
    http: web.Request, request: Request, text: str, finish: str, headers: dict[str, str]
) -> web.StreamResponse:
    response = web.StreamResponse(headers=headers | {"Content-Type": "text/event-stream"})
    await response.prepare(http)
    for event in chat.stream(request, text, finish):
        await response.write(event)
    await response.write_eof()
    return response
