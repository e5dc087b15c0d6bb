"""Commands to the scheduler."""

from schemas.commands import Command
from schemas.events.run import PauseMode, RunRequested


class RequestRun(Command):
    """`run` is the id the client chose (`schemas.ids.run_id`)."""

    request: RunRequested


class PauseRun(Command):
    mode: PauseMode = "epoch"
    reason: str = ""


class ResumeRun(Command):
    reason: str = ""


class CancelRun(Command):
    reason: str = ""
