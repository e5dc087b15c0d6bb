"""Search and fetch of organisms: judged, done, recorded, and only then answered."""

import json
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from aiohttp import web

from schemas import Draft, canonical, ref_of
from schemas.events.egress import EgressAnswered, EgressRefused
from schemas.values.capability import Capability
from services.broker.core import egress
from services.broker.core.clean import clean
from services.broker.core.egress import Refusal
from services.broker.core.view import View
from services.broker.effects.fetching import Refused, Unreachable
from services.broker.effects.searching import SearchFailed
from services.broker.effects.web import Web
from services.broker.gateway.doors import Door
from services.broker.gateway.reply import refused
from services.kit.engine import Context

QUERY_CHARS = 500
MAX_RESULTS = 10
BY = "broker/egress"
Work = Callable[[], Awaitable[dict[str, Any]]]


class Question(NamedTuple):
    """What is asked of the web, and its place on a tape."""

    capability: Capability
    asked: str
    key: str


async def search(context: Context, door: Door, request: web.Request) -> web.StreamResponse:
    query = clean(request.query.get("q", ""), QUERY_CHARS)
    limit = min(max(int(request.query.get("limit", "5")), 1), MAX_RESULTS)
    found: Web = context.resources["web"]
    question = _question(door, "web_search", f"{limit} {query}")
    return await _asked(context, door, question, lambda: found.search(query, limit))


async def fetch(context: Context, door: Door, request: web.Request) -> web.StreamResponse:
    url = request.query.get("url", "")[: egress.URL_CHARS + 1]
    view: View = context.view(door.run)
    hosts = view.request.hosts if view.request else ()
    found: Web = context.resources["web"]
    question = _question(door, "web_fetch", clean(url, egress.URL_CHARS))
    return await _asked(context, door, question, lambda: found.fetch(url, hosts))


async def not_approved(context: Context, door: Door, capability: Capability) -> web.Response:
    """Whatever an organism's code says: what was not approved is refused, and that is a fact."""
    refusal = Refusal("", None, f"{capability} was not approved for this run")
    await _refused(context, door, capability, refusal, "")
    return refused(403, "not_approved", refusal.reason)


def _question(door: Door, capability: Capability, asked: str) -> Question:
    number = door.asked[capability, asked]
    door.asked[capability, asked] += 1
    return Question(capability, asked, egress.tape_key(door.caller, capability, asked, number))


async def _asked(
    context: Context, door: Door, question: Question, work: Work
) -> web.StreamResponse:
    if "trial" in door.grant.scopes:
        return web.json_response({"results": [], "text": "", "status": 0})
    if egress.exhausted(context.view(door.run), door.grant):
        return refused(429, "limit", f"more than {egress.MAX_CALLS} web calls in one attempt")
    view: View = context.view(door.run)
    if context.platform.tape is not None:
        view = context.view(context.platform.tape)
    elif question.key not in view.web:
        return await _afresh(context, door, question, work)
    return await _again(context, door, question, view.web.get(question.key))


async def _afresh(
    context: Context, door: Door, question: Question, work: Work
) -> web.StreamResponse:
    try:
        answer = await work()
    except Refused as error:
        await _refused(context, door, question.capability, error.refusal, question.key)
        return refused(403, "refused", error.refusal.reason)
    except (Unreachable, SearchFailed) as error:
        answer = {"error": str(error)}
    return await _answered(context, door, question, answer)


async def _again(
    context: Context, door: Door, question: Question, found: EgressAnswered | EgressRefused | None
) -> web.StreamResponse:
    """What is on record, good or bad: of a tape, or of this run before its kernel restarted."""
    if isinstance(found, EgressAnswered):
        return await _answered(context, door, question, json.loads(context.blobs.get(found.answer)))
    reason = found.reason if found else "the tape holds no such answer"
    host, port = (found.host, found.port) if found else ("", None)
    refusal = Refusal(host, port, reason)
    await _refused(context, door, question.capability, refusal, question.key)
    return refused(403, "refused", reason)


async def _answered(
    context: Context, door: Door, question: Question, answer: dict[str, Any]
) -> web.StreamResponse:
    redactor = context.resources["secrets"].redactor(context.view(door.run))
    content = canonical(redactor.value(answer))
    event = EgressAnswered(
        attempt=door.grant.attempt,
        capability=question.capability,
        asked=redactor.text(question.asked),
        answer=ref_of(content),
        tape_key=question.key,
    )
    await _recorded(context, door, event, content)
    status = 502 if "error" in answer else 200
    if status == 502:
        return refused(502, "unreachable", str(answer["error"]))
    return web.Response(body=content, content_type="application/json")


async def _recorded(context: Context, door: Door, event: EgressAnswered, content: bytes) -> None:
    draft = Draft(door.grant.attempt, event, door.grant.epoch, (content,))
    await context.transact(
        door.run,
        BY,
        lambda view, now: [] if event.tape_key in view.web else [draft],
        about=door.grant.attempt,
    )


async def _refused(
    context: Context, door: Door, capability: Capability, refusal: Refusal, key: str
) -> None:
    await context.transact(
        door.run,
        BY,
        lambda view, now: egress.refuse(view, door.grant, capability, refusal, key),
        about=door.grant.attempt,
    )
