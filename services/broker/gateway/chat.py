"""Chat completions of organisms: OpenAI's format in, the recorded answer out."""

import math

from aiohttp import web

from schemas import canonical, digest
from schemas.events.model_call import Caller
from services.broker.core import chat, trial
from services.broker.core.answer import Contract
from services.broker.core.view import View
from services.broker.effects.calls import Answer, Call, Calls, Failure
from services.broker.effects.fairness import Full
from services.broker.gateway.doors import Asking, Door
from services.broker.gateway.reply import json_object, refused
from services.broker.gateway.stream import streamed
from services.kit import edges
from services.kit.engine import Context

MAX_IN_FLIGHT = 8
STATUS = {"rate": 429, "timeout": 504, "budget": 429, "refused": 400}


async def models(context: Context, door: Door, request: web.Request) -> web.StreamResponse:
    view: View = context.view(door.run)
    name = view.request.models.organism if view.request else ""
    return web.json_response({"object": "list", "data": [{"id": name, "object": "model"}]})


async def completions(context: Context, door: Door, request: web.Request) -> web.StreamResponse:
    """Two at once, a few more waiting; the rest is told to come again."""
    body = await json_object(request)
    if not isinstance(body.get("messages"), list):
        return refused(400, "invalid_request", "messages must be a list")
    view: View = context.view(door.run)
    assert view.request is not None
    if "trial" in door.grant.scopes:
        stub = trial.completion(view.request.models.organism)
        return await _sent(request, body, stub, canonical(stub))
    if door.in_flight >= MAX_IN_FLIGHT:
        return refused(429, "too_many_requests", "too many calls at once", {"Retry-After": "1"})
    same = digest(await request.read())
    number = _number(door, same, request)
    door.in_flight += 1
    try:
        calls: Calls = context.resources["calls"]
        answer = await calls.ask(_call(view, door, body, number))
    except Full:
        return refused(429, "too_many_requests", "too many calls at once", {"Retry-After": "1"})
    finally:
        door.in_flight -= 1
    _answered(door, same, number, answer)
    if isinstance(answer, Answer):
        return await _sent(request, body, answer.body, answer.content)
    return _failed(answer)


def _number(door: Door, same: str, request: web.Request) -> int:
    """The n-th question. Repeating one whose answer could not be delivered is no new one."""
    asking = door.asking.get(same)
    if asking is not None and asking.gone():
        number = asking.number
    else:
        number = door.calls
        door.calls += 1
    door.asking[same] = Asking(number, request)
    return number


def _answered(door: Door, same: str, number: int, answer: Answer | Failure) -> None:
    """A question without an answer does not count: a tape, which holds answers, agrees."""
    asking = door.asking.get(same)
    if asking is not None and asking.number == number and not asking.gone():
        del door.asking[same]
    if isinstance(answer, Failure) and door.calls == number + 1:
        door.calls = number
        door.asking.pop(same, None)


def _call(view: View, door: Door, body: dict[str, object], number: int) -> Call:
    assert view.request is not None
    limited = bool(body.get("max_tokens") or body.get("max_completion_tokens"))
    grant = door.grant
    return Call(
        run=door.run,
        caller=Caller(
            kind="organism", name=grant.agent, attempt=grant.attempt, genome=grant.genome
        ),
        identity=door.caller,
        occurrence=0,  # the seed differs from call to call and is part of the request
        purpose=door.purpose,
        request=chat.of_organism(view.request, body, door.caller, number),
        contract=Contract(limited=limited),
        seconds=door.expires_at - edges.unix(),
        epoch=grant.epoch,
        grant=grant.grant,
    )


def _failed(failure: Failure) -> web.Response:
    if failure.kind == "budget":
        return refused(429, "budget_exhausted", failure.detail)
    status = failure.status if failure.status and failure.status >= 400 else None
    headers = {}
    if failure.retry_after:
        headers["Retry-After"] = str(math.ceil(failure.retry_after))
    code = status or STATUS.get(failure.kind, 502)
    return refused(code, failure.kind, failure.detail, headers)


async def _sent(
    request: web.Request, asked: dict[str, object], body: dict[str, object], content: bytes
) -> web.StreamResponse:
    if asked.get("stream") is True:
        return await streamed(request, asked, body)
    return web.Response(body=content, content_type="application/json")
