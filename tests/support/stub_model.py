"""A small real HTTP server that stands in for the broker's gateway and plays scripted answers."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

Script = Callable[[dict[str, Any]], "str | Reply"]


@dataclass(frozen=True)
class Reply:
    """An answer other than plain text: a status, a JSON body or raw bytes, a delay."""

    status: int = 200
    body: Any = None
    raw: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    delay_seconds: float = 0.0


BUDGET_EXHAUSTED = Reply(429, {"error": {"type": "budget_exhausted", "message": "used up"}})


def fenced(code: str) -> str:
    """A model's answer that holds `code`."""
    return f"Thought: I go on.\n```python\n{code}\n```"


def in_turn(*answers: "str | Reply") -> Script:
    """One answer a request, the last one for ever; thread-safe as the server has one loop."""
    left = list(answers)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


class StubModel:
    """Serves in a thread: `with StubModel(script) as stub: ... stub.base_url ... stub.chats`."""

    def __init__(self, script: Script):
        self._script = script
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._ready = threading.Event()
        self.base_url = ""
        self.chats: list[dict[str, Any]] = []
        self.side_calls: list[tuple[str, str, Any]] = []
        self.tokens: set[str] = set()
        self.records: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._start())
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self._runner.cleanup())
        self._loop.close()

    async def _start(self) -> None:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_route("*", "/{path:.*}", self._side)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self.base_url = f"http://127.0.0.1:{port}/v1"

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self.tokens.add(request.headers.get("Authorization", ""))
        body = await request.json()
        self.chats.append(body)
        answer = self._script(body)
        if isinstance(answer, str):
            return web.json_response(_completion(answer))
        await asyncio.sleep(answer.delay_seconds)
        if answer.raw is not None:
            return web.Response(status=answer.status, body=answer.raw, headers=answer.headers)
        return web.json_response(answer.body, status=answer.status, headers=answer.headers)

    async def _side(self, request: web.Request) -> web.StreamResponse:
        self.tokens.add(request.headers.get("Authorization", ""))
        body = await request.json() if request.can_read_body else None
        self.side_calls.append((request.method, request.path_qs, body))
        match request.method, request.path:
            case "GET", "/memory":
                return web.json_response({"records": self.records})
            case "GET", "/budget":
                return web.json_response(
                    {"state": "TIGHT", "used": {"calls": 3}, "limits": {"calls": 4}}
                )
            case "POST", "/memory":
                return web.json_response({"record": "m1"}, status=201)
            case "POST", "/memory/ratings" | "/activity":
                return web.json_response({}, status=201)
        return web.json_response({"error": {"type": "not_found"}}, status=404)


def _completion(text: str) -> dict[str, Any]:
    return {
        "id": "stub",
        "object": "chat.completion",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }
