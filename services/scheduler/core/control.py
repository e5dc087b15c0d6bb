"""Commands of an operator: what is accepted, what is refused and why. All are idempotent."""

from datetime import datetime

from schemas import Draft, ids
from schemas.commands import Refused
from schemas.commands.run import CancelRun, PauseRun, RequestRun, ResumeRun
from schemas.events.run import RunCancelRequested, RunPauseRequested, RunResumed
from services.scheduler.core.view import View

Answer = list[Draft] | Refused


def request(view: View, command: RequestRun, now: datetime) -> Answer:
    """A new run, unless the id is taken by another request."""
    if view.request == command.request:
        return []
    if view.request is not None:
        return Refused(reason=f"{command.run} exists already", hint="choose another run id")
    if not ids.RUN.match(command.run):
        return Refused(reason="a run id looks like r20261231-235959-0a1b2c")
    return [Draft(ids.MAIN, command.request)]


def pause(view: View, command: PauseRun, now: datetime) -> Answer:
    if refused := _refused(view, command.run):
        return refused
    if view.paused is not None:
        return Refused(reason=f"{command.run} is paused already", hint="kadath resume RUN")
    if view.wish is not None and view.wish.mode == command.mode:
        return []
    return [Draft(ids.MAIN, RunPauseRequested(mode=command.mode, reason=command.reason))]


def resume(view: View, command: ResumeRun, now: datetime) -> Answer:
    if refused := _refused(view, command.run):
        return refused
    if view.paused is None and view.wish is None:
        return Refused(reason=f"{command.run} is not paused", hint="kadath status RUN")
    return [Draft(ids.MAIN, RunResumed(reason=command.reason))]


def cancel(view: View, command: CancelRun, now: datetime) -> Answer:
    if refused := _refused(view, command.run):
        return refused
    if view.cancel is not None:
        return []
    return [Draft(ids.MAIN, RunCancelRequested(reason=command.reason))]


def _refused(view: View, run: str) -> Refused | None:
    if view.request is None:
        return Refused(reason=f"there is no run {run}", hint="kadath runs")
    if view.terminal:
        return Refused(reason=f"{run} has ended", hint="kadath status RUN")
    return None
