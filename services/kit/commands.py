"""Commands and RPCs: FastStream subscribers in the service's queue group, and their client."""

import logging
from typing import Any

from faststream import AckPolicy
from faststream.nats import NatsBroker, NatsMessage
from nats.aio.client import Client
from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from schemas import Actor, subjects
from schemas.base import Value
from schemas.commands import Accepted, Command, Refused
from schemas.commands.complete import Complete, Completion, CompletionFailed
from services.kit.engine import Context
from services.kit.errors import SecretLeak, TooLarge
from services.kit.service import Handler, Rpc

logger = logging.getLogger(__name__)

COMPLETE_SECONDS = 900
COMPLETED: TypeAdapter[Completion | CompletionFailed] = TypeAdapter(Completion | CompletionFailed)


class Denied(Exception):
    """A service refused a command. `hint` says what to do."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.reason)
        self.hint = refused.hint


def subscribe(broker: NatsBroker, context: Context) -> None:
    """Register every command and RPC of a service on its broker."""
    name = context.service.name
    for handler in context.service.commands:
        subject = subjects.command(name, handler.command.__name__)
        _register(broker, subject, name, _commanded(context, handler))
    for rpc in context.service.rpcs:
        _register(broker, subjects.rpc(name, rpc.name), name, _called(context, rpc))


def _register(broker: NatsBroker, subject: str, queue: str, answer: Any) -> None:
    """The body arrives as bytes: FastStream would guess its type from the first character,
    and FastDepends would fill further parameters from it."""
    subscriber = broker.subscriber(
        subject, queue=queue, ack_policy=AckPolicy.MANUAL, max_workers=64, decoder=_raw
    )
    subscriber(answer)


async def _raw(message: NatsMessage) -> bytes:
    return message.body


def _commanded(context: Context, handler: Handler) -> Any:
    async def answer(body: bytes) -> bytes:
        return _encoded(await _decide(context, handler, body))

    answer.__name__ = handler.command.__name__
    return answer


async def _decide(context: Context, handler: Handler, body: bytes) -> Value:
    try:
        command = handler.command.model_validate_json(body)
    except ValidationError as error:
        return Refused(reason=f"the command is not valid: {_first(error)}")
    refused: list[Refused] = []

    def decide(view: Any, now: Any) -> Any:
        answer = handler.decide(view, command, now)
        if isinstance(answer, Refused):
            refused[:] = [answer]
            return []
        refused.clear()
        return answer

    by = f"{context.service.name}/{type(command).__name__}"
    actor = Actor(kind="operator", name=command.operator)
    try:
        done = await context.transact(
            command.run, by, decide, actor=actor, correlation=command.command
        )
    except (TooLarge, SecretLeak) as error:
        return Refused(reason=str(error), hint="shorten it, or leave the secret out")
    return refused[0] if refused else Accepted(events=tuple(event.id for event in done))


def _called(context: Context, rpc: Rpc) -> Any:
    async def answer(body: bytes) -> bytes:
        try:
            request = rpc.request.model_validate_json(body)
        except ValidationError as error:
            return _encoded(Refused(reason=f"the request is not valid: {_first(error)}"))
        return _encoded(await rpc.answer(context, request))

    answer.__name__ = rpc.name
    return answer


def _encoded(value: Value) -> bytes:
    return value.model_dump_json().encode()


def _first(error: ValidationError) -> str:
    details = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:5]]
    return "; ".join(details)


async def complete(context: Context, request: Complete) -> Completion | CompletionFailed:
    """A specialist's model call, recorded before it is answered."""
    return COMPLETED.validate_json(
        await context.call("broker", "complete", request, timeout=COMPLETE_SECONDS)
    )


async def send(client: Client, service: str, command: Command, timeout: float = 20.0) -> Accepted:
    """Send a command and wait for the verdict. Raises `Denied` when it is refused."""
    subject = subjects.command(service, type(command).__name__)
    reply = await client.request(subject, command.model_dump_json().encode(), timeout=timeout)
    answer = from_json(reply.data)
    if answer.get("reply") == "refused":
        raise Denied(Refused.model_validate(answer))
    return Accepted.model_validate(answer)
