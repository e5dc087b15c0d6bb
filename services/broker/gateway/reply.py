"""Errors in OpenAI's shape, and the one way to read a body."""

import json

from aiohttp import web

from services.broker.core.clean import broken, repaired


def refused(
    status: int, kind: str, message: str, headers: dict[str, str] | None = None
) -> web.Response:
    body = {"error": {"type": kind, "code": kind, "message": message}}
    return web.json_response(body, status=status, headers=headers)


async def json_object(request: web.Request) -> dict[str, object]:
    """Raises `ValueError` for anything but one JSON object in UTF-8.

    Escapes can spell a lone surrogate, which nothing behind this border could carry.
    """
    try:
        text = (await request.read()).decode()
        body = json.loads(text)
        if "\\u" in text and broken(sound := json.dumps(body, ensure_ascii=False)):
            body = json.loads(repaired(sound))
    except RecursionError:
        raise ValueError("nested too deep") from None
    if isinstance(body, dict):
        return body
    raise ValueError("not an object")
