"""Writes the whole export beside its place and moves it there: complete or absent."""

import os
import shutil
from pathlib import Path

from services.kit.blobs import Blobs
from services.lineage.core import references
from services.lineage.core.view import View
from services.lineage.effects.git import write_all
from services.lineage.effects.repository import Repository
from services.lineage.exporting.champion import write_champion
from services.lineage.exporting.log import Line
from services.lineage.exporting.manifest import write_manifest
from services.lineage.exporting.population import write_population
from services.lineage.exporting.records import write_records


class CannotExport(Exception):
    """The message is for the person who asked."""


def write_export(blobs: Blobs, run: str, lines: list[Line], target: Path, secret: bytes) -> bytes:
    """Write the run as told by `lines` to `target`; return the manifest."""
    if target.exists():
        raise CannotExport(f"{target} exists already")
    if not target.parent.is_dir():
        raise CannotExport(f"{target.parent} is not a folder")
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        temporary.mkdir()
        manifest = _fill(blobs, run, lines, temporary, secret)
        temporary.rename(target)
    except OSError as error:
        raise CannotExport(f"{error.filename or target}: {error.strerror}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return manifest


def _fill(blobs: Blobs, run: str, lines: list[Line], folder: Path, secret: bytes) -> bytes:
    view = View(run, blobs.get)
    log = [line.recorded() for line in lines]
    for recorded in log:
        view.apply(recorded)
    with open(folder / "events.jsonl", "wb") as file:
        file.writelines(line.encoded() for line in lines)
    (folder / "blobs").mkdir()
    for sha256 in references.closure((r.data for r in log), blobs.get):
        (folder / "blobs" / sha256).write_bytes(blobs.read(sha256))
    write_champion(blobs, view, folder / "champion")
    write_population(folder, blobs, view)
    write_records(folder, view, log)
    repository = Repository(folder / "git-repository")
    write_all(repository, blobs, view)
    repository.close()
    return write_manifest(folder, view, secret)
