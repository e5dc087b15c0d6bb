"""Requests to the broker: a specialist's model call, an attempt's token."""

from schemas.base import Value
from schemas.events.model_call import FailureKind
from schemas.refs import BlobRef, Sha256


class Complete(Value):
    """One model call of a specialist. `answer` is a key of `schemas.values.answers.ANSWERS`;
    `about` and `attempt_no` tell deliberate repeats apart; `payload` is the user message."""

    run: str
    caller: str
    purpose: str
    answer: str
    about: str
    attempt_no: int = 0
    epoch: int | None = None
    system: str
    payload: BlobRef
    timeout_seconds: float = 180.0


class Completion(Value):
    """The recorded answer: its text lies in the blob store, parsed or not."""

    call: str
    content: BlobRef


class CompletionFailed(Value):
    kind: FailureKind
    detail: str
    retryable: bool
    call: str | None = None


class TokenFor(Value):
    """The sandbox asks for the token of an attempt that is about to start."""

    run: str
    attempt: str
    agent: str
    genome: Sha256
    purpose: str
    epoch: int | None = None
    restart: int = 0
    expires_at: float


class Token(Value):
    """`socket_dir` holds `gateway.sock`, made for this attempt alone."""

    grant: str
    token: str
    socket_dir: str
