"""The command that asks for an export."""

from datetime import datetime
from pathlib import PurePosixPath

from schemas import Draft
from schemas.commands import Refused
from schemas.commands.export import ExportRun
from schemas.events.export import ExportRequested
from services.lineage.core.view import View


def request(view: View, command: ExportRun, now: datetime) -> list[Draft] | Refused:
    """Accept once; the export's id is the command's own."""
    path = PurePosixPath(command.path)
    if view.requested is None:
        return Refused(reason=f"run {command.run} is not known", hint="`kadath runs` lists all")
    if not path.is_absolute() or ".." in path.parts:
        return Refused(reason="the path of an export is absolute", hint="give a full path")
    if command.command in view.exports:
        return []
    asked = ExportRequested(path=command.path, requested_by=command.operator)
    return [Draft(command.command, asked, view.epoch)]
