"""Memory and activity of organisms over HTTP; recorded before they are acknowledged."""

from collections.abc import Callable
from datetime import datetime

import asyncpg
from aiohttp import web

from schemas import Draft
from services.broker.core import memory
from services.broker.core.clean import clean
from services.broker.core.memory import Invalid, Note
from services.broker.core.ranking import Scored
from services.broker.core.view import View
from services.broker.effects.memory import MAX_VISIBLE, Memories
from services.broker.gateway.doors import Door
from services.broker.gateway.reply import json_object, refused
from services.kit.engine import Context

QUERY_CHARS = 2000
MAX_BYTES = 256 << 10
Decide = Callable[[View], list[Draft] | Invalid]


async def publish(context: Context, door: Door, request: web.Request) -> web.StreamResponse:
    return await _noted(context, door, request, memory.note)


async def activity(context: Context, door: Door, request: web.Request) -> web.StreamResponse:
    return await _noted(context, door, request, memory.activity)


async def rate(context: Context, door: Door, request: web.Request) -> web.StreamResponse:
    if (request.content_length or 0) > MAX_BYTES:
        return _no(Invalid("the body is too large", 413))
    body = await json_object(request)
    record, value = clean(str(body.get("record", "")), 80), body.get("value")
    if _trial(door):
        return web.json_response({"record": record}, status=201)
    invalid = await _decided(
        context, door, record, lambda view: memory.rate(view, door.grant, record, value)
    )
    return _no(invalid) if invalid else web.json_response({"record": record}, status=201)


async def search(context: Context, door: Door, request: web.Request) -> web.StreamResponse:
    if _trial(door):
        return web.json_response({"records": []})
    query = clean(request.query.get("q", ""), QUERY_CHARS)
    try:
        limit = max(1, min(int(request.query.get("limit", "10")), MAX_VISIBLE))
    except ValueError:
        return _no(Invalid("limit must be a whole number"))
    memories: Memories = context.resources["memories"]
    grant = door.grant
    try:
        found = await memories.search(
            context.view(door.run), grant.agent, grant.epoch, query, limit
        )
    except (asyncpg.PostgresError, OSError, TimeoutError):
        return refused(503, "unavailable", "the memory cannot be read now", {"Retry-After": "1"})
    return web.json_response({"records": [_shown(scored) for scored in found]})


async def _noted(
    context: Context,
    door: Door,
    request: web.Request,
    read: Callable[[dict[str, object]], Note | Invalid],
) -> web.StreamResponse:
    if (request.content_length or 0) > MAX_BYTES:
        return _no(Invalid("the body is too large", 413))
    item = read(await json_object(request))
    if isinstance(item, Invalid):
        return _no(item)
    item = _redacted(context, door, item)
    record = memory.record_id(door.grant.agent, item)
    if not _trial(door):
        invalid = await _decided(
            context, door, record, lambda view: memory.publish(view, door.grant, item)
        )
        if invalid:
            return _no(invalid)
    return web.json_response({"record": record}, status=201)


def _redacted(context: Context, door: Door, item: Note) -> Note:
    mask = context.resources["secrets"].redactor(context.view(door.run)).text
    return item._replace(
        summary=mask(item.summary)[: memory.SUMMARY_CHARS],
        body=mask(item.body)[: memory.BODY_CHARS],
        evidence_refs=tuple(mask(ref) for ref in item.evidence_refs),
    )


async def _decided(context: Context, door: Door, about: str, decide: Decide) -> Invalid | None:
    refusals: list[Invalid] = []

    def drafts(view: View, now: datetime) -> list[Draft]:
        answer = decide(view)
        if isinstance(answer, Invalid):
            refusals[:] = [answer]
            return []
        refusals.clear()
        return answer

    await context.transact(door.run, "broker/memory", drafts, about=about)
    return refusals[0] if refusals else None


def _trial(door: Door) -> bool:
    return "trial" in door.grant.scopes


def _no(invalid: Invalid) -> web.Response:
    return refused(invalid.status, "invalid_request", invalid.reason)


def _shown(scored: Scored) -> dict[str, object]:
    found = scored.candidate
    shown: dict[str, object] = {
        "record": found.record,
        "agent": found.agent,
        "kind": found.kind,
        "summary": found.summary,
        "scope": found.scope,
        "score": scored.score,
    }
    return shown | ({"body": found.body} if found.body else {})
