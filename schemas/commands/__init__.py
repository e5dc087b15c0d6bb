"""Requests to a service, and the two possible replies. Nothing here is stored."""

from typing import Literal

from schemas.base import Value


class Command(Value):
    """`command` is the idempotency key: a uuid7 made by the client. `run` is its target."""

    run: str
    command: str
    operator: str = "operator"


class Accepted(Value):
    reply: Literal["accepted"] = "accepted"
    events: tuple[str, ...] = ()


class Refused(Value):
    """Domain "no". `hint` says what to do instead."""

    reply: Literal["refused"] = "refused"
    reason: str
    hint: str = ""
