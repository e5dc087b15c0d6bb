"""Every model call, answered or failed. Owner: broker. Id: the call."""

from decimal import Decimal
from typing import Literal

from schemas.base import Event, Value
from schemas.refs import BlobRef, Sha256
from schemas.values.runtime import Usage

FailureKind = Literal[
    "timeout", "rate", "provider", "contract", "truncated", "empty", "encoding", "budget", "refused"
]


class Caller(Value):
    """Who asked. `name` is the service or the agent."""

    kind: Literal["specialist", "organism"]
    name: str
    attempt: str | None = None
    genome: Sha256 | None = None


class ModelCallRecorded(Event):
    """`key` says when the recorded answer may be used again (architecture 2.9)."""

    type = "model_call.recorded"
    call: str
    key: Sha256
    tape_key: Sha256
    caller: Caller
    purpose: str
    model: str
    request: BlobRef
    response: BlobRef
    finish: str
    usage: Usage
    latency_ms: int
    tries: int
    fault: str | None = None


class ModelCallFailed(Event):
    """One try that brought no usable answer. `fault` is the id a test server gave it."""

    type = "model_call.failed"
    call: str
    key: Sha256
    caller: Caller
    purpose: str
    model: str
    request: BlobRef
    attempt_no: int
    http_status: int | None = None
    kind: FailureKind
    retryable: bool
    detail: str = ""
    fault: str | None = None
    cost: Decimal | None = None
