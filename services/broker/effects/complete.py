"""The RPC of specialists: one question, one recorded answer that fits its contract."""

from schemas.commands.complete import Complete, Completion, CompletionFailed
from schemas.events.model_call import Caller
from schemas.values.answers import ANSWERS
from services.broker.core import chat, journal
from services.broker.core.answer import Contract
from services.broker.core.clean import clean
from services.broker.core.view import View
from services.broker.effects.calls import Answer, Call, Calls
from services.kit.blobs import DamagedBlob, MissingBlob
from services.kit.engine import Context
from services.kit.errors import KitError

MAX_PAYLOAD_CHARS = 4 << 20


async def complete(context: Context, ask: Complete) -> Completion | CompletionFailed:
    """Broken answers are retried here; what the answer means is the caller's to judge."""
    view: View = context.view(ask.run)
    reason = _refusal(view, ask)
    if reason:
        return CompletionFailed(kind="refused", detail=reason, retryable=False)
    try:
        payload = clean(context.blobs.get(ask.payload).decode(), MAX_PAYLOAD_CHARS)
    except (MissingBlob, DamagedBlob, UnicodeDecodeError) as error:
        detail = f"payload: {type(error).__name__} {ask.payload.sha256}"
        return CompletionFailed(kind="refused", detail=detail, retryable=False)
    calls: Calls = context.resources["calls"]
    try:
        answer = await calls.ask(_call(view, ask, payload))
    except KitError as error:
        return CompletionFailed(kind="provider", detail=str(error), retryable=error.retryable)
    if not isinstance(answer, Answer):
        return CompletionFailed(
            kind=answer.kind, detail=answer.detail, retryable=answer.retryable, call=answer.call
        )
    content = await context.blobs.put(_text(answer).encode())
    return Completion(call=answer.call, content=content)


def _refusal(view: View, ask: Complete) -> str | None:
    if view.request is None:
        return f"unknown run {ask.run}"
    if view.ended:
        return "the run has ended"
    if ask.answer not in ANSWERS:
        return f"unknown answer {ask.answer}"
    return None


def _call(view: View, ask: Complete, payload: str) -> Call:
    assert view.request is not None
    return Call(
        run=ask.run,
        caller=Caller(kind="specialist", name=ask.caller),
        identity=journal.specialist(ask.caller, ask.about, ask.attempt_no),
        occurrence=0,
        purpose=ask.purpose,
        request=chat.of_specialist(view.request, ask, payload),
        contract=Contract(answer=ask.answer),
        seconds=ask.timeout_seconds,
        epoch=ask.epoch,
    )


def _text(answer: Answer) -> str:
    return str(answer.body["choices"][0]["message"]["content"])  # type: ignore[index]
