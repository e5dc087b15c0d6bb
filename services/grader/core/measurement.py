"""What a measuring program said: one JSON object, or a failure with its reason."""

import json
from collections.abc import Callable
from datetime import datetime

from schemas import BlobRef, Draft, Event
from schemas.events.attempt import AttemptFinished
from schemas.events.measurement import MeasurementFailed, MeasurementRecorded
from services.grader.core.view import View


def record(view: View, about: str, now: datetime) -> list[Draft]:
    """The first answer counts and is never taken again."""
    attempt, separator, program = about.partition("-m-")
    finished, judging = view.finished.get(about), view.judging.get(attempt)
    if not separator or finished is None or judging is None:
        return []
    if program in judging.measured or program in judging.failed:
        return []
    if finished.outcome == "cancelled":  # the machine stopped it; it is queued again on resume
        return []
    assert view.epoch is not None
    event = _verdict(view, attempt, judging.opened.agent, program, finished)
    return [Draft(about, event, view.epoch.epoch)]


def _verdict(
    view: View, attempt: str, agent: str, program: str, finished: AttemptFinished
) -> Event:
    reason = failure(finished, view.read)
    if reason is None and finished.result is not None:
        return MeasurementRecorded(
            attempt=attempt, agent=agent, program=program, response=finished.result
        )
    return MeasurementFailed(
        attempt=attempt,
        agent=agent,
        program=program,
        reason=reason or "no output",
        retryable=False,
    )


def failure(finished: AttemptFinished, read: Callable[[BlobRef], bytes]) -> str | None:
    """Why a program's end is no measurement, or None."""
    if finished.outcome != "completed":
        return f"{finished.outcome}: {finished.because}"
    if finished.result is None:
        return "the program printed nothing"
    try:
        answer = json.loads(read(finished.result))
    except (ValueError, RecursionError):
        return "the output is not JSON"
    return None if isinstance(answer, dict) else "the output is not a JSON object"
