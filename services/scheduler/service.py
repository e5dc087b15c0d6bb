"""The scheduler: the one service that opens a phase. Never does phase work."""

from collections.abc import Iterable

from schemas import Recorded, ids
from schemas.commands.run import CancelRun, PauseRun, RequestRun, ResumeRun
from services.kit.service import Handler, Reaction, Service
from services.scheduler.core import control
from services.scheduler.core.next_step import next_step, stall_due
from services.scheduler.core.view import HANDLES, View


def _main(recorded: Recorded, view: View) -> Iterable[str]:
    return (ids.MAIN,)


SERVICE = Service(
    name="scheduler",
    view=View,
    handles=HANDLES,
    reactions=(
        Reaction(name="next_step@1", on=HANDLES, rings=_main, decide=next_step, due=stall_due),
    ),
    commands=(
        Handler(RequestRun, control.request),
        Handler(PauseRun, control.pause),
        Handler(ResumeRun, control.resume),
        Handler(CancelRun, control.cancel),
    ),
)
