"""`python -m services.broker.provider SOCKET`: litellm behind one Unix socket, nothing else.

Only this process imports litellm (seconds of CPU, 200 MB) and only it holds provider keys.
"""

import asyncio
import json
import os
import sys

import litellm
from aiohttp import web

MAX_REQUEST_BYTES = 16 << 20
PASSED_ON = "llm_provider-x-kadath-fault"


async def complete(request: web.Request) -> web.Response:
    """One chat completion; a provider's refusal keeps its status."""
    body = json.loads(await request.read())
    try:
        answer = await litellm.acompletion(
            **body, num_retries=0, max_retries=0, drop_params=True, stream=False
        )
    except Exception as error:  # the border to foreign code: every error becomes a status
        return _failed(error)
    hidden = getattr(answer, "_hidden_params", None) or {}
    found = {
        "x-kadath-cost": hidden.get("response_cost"),
        "x-kadath-fault": (hidden.get("additional_headers") or {}).get(PASSED_ON),
    }
    headers = {name: str(value) for name, value in found.items() if value is not None}
    return web.json_response(answer.model_dump(mode="json"), headers=headers)


def _failed(error: Exception) -> web.Response:
    status = getattr(error, "status_code", None)
    headers = {}
    response = getattr(error, "response", None)
    for name in ("retry-after", "x-kadath-fault"):
        value = getattr(response, "headers", {}).get(name)
        if value:
            headers[name] = value
    body = {"error": {"type": type(error).__name__, "message": str(error)[:2000]}}
    code = status if isinstance(status, int) and 400 <= status < 600 else 502
    return web.json_response(body, status=code, headers=headers)


async def serve(socket: str) -> None:
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    app = web.Application(client_max_size=MAX_REQUEST_BYTES)
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    os.umask(0o177)
    await web.UnixSite(runner, socket).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
