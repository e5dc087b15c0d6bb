"""What a service found before the run starts. Owner by id: the service that checked."""

from schemas.base import Event


class PreflightCheckPassed(Event):
    """`resolved` holds what was looked up, such as a model id or a tree hash."""

    type = "preflight.check_passed"
    check: str
    resolved: dict[str, str] = {}
    detail: str = ""


class PreflightCheckFailed(Event):
    type = "preflight.check_failed"
    check: str
    reason: str
    retryable: bool = False
