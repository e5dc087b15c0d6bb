"""Is there what a run needs? Its web tools, and one tiny recorded call to each model."""

from schemas import Draft, Recorded
from schemas.base import Event
from schemas.events.model_call import Caller
from schemas.events.preflight import PreflightCheckFailed, PreflightCheckPassed
from services.broker.core import chat, journal
from services.broker.core.answer import Contract
from services.broker.core.view import View
from services.broker.effects.calls import Answer, Call, Calls, Failure
from services.broker.effects.web import Web
from services.kit.engine import Context

CHECK = "models"
SECONDS = 180.0
NO_PRICE = "a cap in USD needs a price for every model: cap tokens or calls instead"
ROLES = ("specialist", "organism")


def due(view: View, recorded: Recorded) -> bool:
    asked = view.preflight_seq == recorded.seq
    return asked and view.preflight_answered < view.preflight_seq and not view.ended


async def check(context: Context, recorded: Recorded) -> None:
    """Concluded by passed or failed."""
    view: View = context.view(recorded.run)
    found = await _found(context, view)
    await context.transact(
        recorded.run,
        "broker/preflight",
        lambda view, now: [Draft("broker", found)] if due(view, recorded) else [],
        about="broker",
    )


async def _found(context: Context, view: View) -> Event:
    web: Web = context.resources["web"]
    if missing := web.missing(view.tools):
        return PreflightCheckFailed(check=CHECK, reason=missing)
    calls: Calls = context.resources["calls"]
    resolved: dict[str, str] = {}
    for role in ROLES:
        answer = await calls.ask(_call(view, role))
        if isinstance(answer, Failure):
            reason = f"the {role} model does not answer: {answer.kind}: {answer.detail}"
            return PreflightCheckFailed(check=CHECK, reason=reason, retryable=answer.retryable)
        assert isinstance(answer, Answer)
        resolved[role] = _model(view, role)
    if view.caps.usd is not None and view.spent.unpriced and context.platform.tape is None:
        return PreflightCheckFailed(check=CHECK, reason=NO_PRICE)
    return PreflightCheckPassed(check=CHECK, resolved=resolved)


def _model(view: View, role: str) -> str:
    assert view.request is not None
    models = view.request.models
    return models.specialist if role == "specialist" else models.organism


def _call(view: View, role: str) -> Call:
    assert view.request is not None
    return Call(
        run=view.run,
        caller=Caller(kind="specialist", name="broker"),
        identity=journal.specialist("broker", f"preflight-{role}", view.preflights),
        occurrence=0,
        purpose="preflight",
        request=chat.probe(view.request, role, view.preflights),
        contract=Contract(limited=True),
        seconds=SECONDS,
    )
