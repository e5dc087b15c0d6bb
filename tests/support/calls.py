"""Model calls as facts, for tests of pure decisions."""

from schemas import BlobRef
from schemas.events.model_call import Caller, ModelCallFailed, ModelCallRecorded
from schemas.values.runtime import Usage
from tests.support.given import sha

REQUEST = BlobRef(sha256=sha("request"), size=1)


def caller(attempt: str | None) -> Caller:
    return Caller(kind="organism" if attempt else "specialist", name="x", attempt=attempt)


def answered(attempt: str | None = None, model: str = "small") -> ModelCallRecorded:
    """One answer to an attempt's call, or to a specialist's."""
    return ModelCallRecorded(
        call="c1",
        key=sha("key"),
        tape_key=sha("key"),
        caller=caller(attempt),
        purpose="test",
        model=model,
        request=REQUEST,
        response=REQUEST,
        finish="stop",
        usage=Usage(prompt=1),
        latency_ms=1,
        tries=1,
    )


def failed(
    attempt: str | None = None, kind: str = "provider", retryable: bool = True, model: str = "small"
) -> ModelCallFailed:
    """One try that brought no answer."""
    fields = {"kind": kind, "retryable": retryable, "model": model, "attempt_no": 1}
    known = {"call": "c1", "key": sha("key"), "purpose": "test", "request": REQUEST}
    return ModelCallFailed.model_validate({"caller": caller(attempt), **known, **fields})
