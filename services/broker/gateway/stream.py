"""A recorded answer as server-sent events, for clients that ask for a stream.

The answer is checked and recorded as a whole first: a stream cannot be taken back.
"""

import json
from typing import cast

from aiohttp import web

Json = dict[str, object]


async def streamed(request: web.Request, asked: Json, body: Json) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for chunk in _chunks(asked, body):
        await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
    await response.write(b"data: [DONE]\n\n")
    return response


def _chunks(asked: Json, body: Json) -> list[Json]:
    choice = cast(Json, cast(list[object], body["choices"])[0])
    message = cast(Json, choice["message"])
    delta = {k: v for k, v in message.items() if k in ("role", "content", "tool_calls") and v}
    if isinstance(delta.get("tool_calls"), list):
        calls = cast(list[Json], delta["tool_calls"])
        delta["tool_calls"] = [{"index": i, **call} for i, call in enumerate(calls)]
    parts: list[Json] = [{"delta": delta}, {"delta": {}, "finish_reason": choice["finish_reason"]}]
    head = {k: body.get(k) for k in ("id", "created", "model")} | {
        "object": "chat.completion.chunk"
    }
    chunks: list[Json] = [
        {**head, "choices": [{"index": 0, "finish_reason": None, **part}]} for part in parts
    ]
    options = asked.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage"):
        chunks.append({**head, "choices": [], "usage": body.get("usage")})
    return chunks
