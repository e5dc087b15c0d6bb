"""Asks for an export of a run and waits until it is written."""

from pathlib import Path

from kadath.cli.client import Session
from schemas import Recorded
from schemas.commands.export import ExportRun
from schemas.events.export import ExportCompleted, ExportFailed
from services.kit import edges


class ExportRefused(RuntimeError):
    """Lineage could not write the export; the message holds its reason."""


async def export(client: Session, run: str, folder: Path | None = None) -> Path:
    """The folder of the export, by default `exports/RUN` of the home."""
    target = (folder or client.home.folder / "exports" / run).absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    command = ExportRun(run=run, command=edges.uuid7(), path=str(target))
    await client.send("lineage", command)

    def ended(recorded: Recorded) -> bool:
        return isinstance(recorded.data, ExportCompleted | ExportFailed)

    # The export's id is the command's: an earlier export of the run is not this one.
    async for recorded in client.events(f"kadath.evt.{run}.export.{command.command}.>", ended):
        if isinstance(recorded.data, ExportFailed):
            raise ExportRefused(f"export of {run} failed: {recorded.data.reason}")
    return target
