"""A model server that answers at once and counts: `python -m bench.instant_model`.

Prints its base URL; `GET /counts` gives {"calls", "distinct"} since the start.
"""

import asyncio
import hashlib
import json

from aiohttp import web

MESSAGE = {"role": "assistant", "content": "Done."}
CHOICE = {"index": 0, "message": MESSAGE, "finish_reason": "stop"}
USAGE = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
ANSWER = json.dumps({"object": "chat.completion", "choices": [CHOICE], "usage": USAGE}).encode()


class Instant:
    def __init__(self) -> None:
        self._calls = 0
        self._bodies: set[bytes] = set()

    async def chat(self, request: web.Request) -> web.Response:
        self._calls += 1
        self._bodies.add(hashlib.sha256(await request.read()).digest())
        return web.Response(body=ANSWER, content_type="application/json")

    async def counts(self, request: web.Request) -> web.Response:
        return web.json_response({"calls": self._calls, "distinct": len(self._bodies)})


async def main() -> None:
    instant, app = Instant(), web.Application()
    app.router.add_post("/v1/chat/completions", instant.chat)
    app.router.add_get("/counts", instant.counts)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
