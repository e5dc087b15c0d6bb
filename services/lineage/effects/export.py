"""On export.requested: the run up to that event, as a directory that stands by itself."""

import asyncio
import json
from pathlib import Path
from typing import Any

from schemas import Draft, Event, Recorded, ref_of
from schemas.events.export import ExportCompleted, ExportFailed, ExportRequested
from services.kit.blobs import DamagedBlob, MissingBlob
from services.kit.engine import Context
from services.lineage.core.view import View
from services.lineage.exporting.directory import CannotExport, write_export
from services.lineage.exporting.log import read_log
from services.lineage.exporting.manifest import NAME


def due(view: View, recorded: Recorded) -> bool:
    return recorded.entity_id not in view.exported


async def export(context: Context, recorded: Recorded) -> None:
    """Write the directory, or say why it cannot be written."""
    request: Any = recorded.data
    try:
        manifest = await _written(context, recorded, request)
        found = json.loads(manifest)["files"]
        size = sum(file["size"] for file in found)
        answer: Event = ExportCompleted(manifest=ref_of(manifest), files=len(found), bytes=size)
        blobs: tuple[bytes, ...] = (manifest,)
    except CannotExport as error:
        answer, blobs = ExportFailed(reason=str(error)), ()
    except (MissingBlob, DamagedBlob) as error:
        reason = f"blob {error.args[0]} is missing or damaged"
        answer, blobs = ExportFailed(reason=reason), ()

    def decide(view: View, now: object) -> list[Draft]:
        return [Draft(recorded.entity_id, answer, view.epoch, blobs)] if due(view, recorded) else []

    await context.transact(recorded.run, "lineage/export", decide)


async def _written(context: Context, recorded: Recorded, request: ExportRequested) -> bytes:
    target = Path(request.path)
    finished = _finished(target, recorded)
    if finished is not None:
        return finished
    lines = await read_log(context.client, recorded.run, recorded.seq)
    secret = context.platform.keys["sign"]
    return await asyncio.to_thread(write_export, context.blobs, recorded.run, lines, target, secret)


def _finished(target: Path, recorded: Recorded) -> bytes | None:
    """The manifest of exactly this export, if it was written before the kernel died."""
    try:
        content = (target / NAME).read_bytes()
        found = json.loads(content)
    except (OSError, ValueError):
        return None
    same = found["run"] == recorded.run and found["chain"]["up_to_seq"] == recorded.seq
    return content if same else None
