"""A run as a directory that stands by itself. Owner: lineage. Id: the export."""

from schemas.base import Event
from schemas.refs import BlobRef


class ExportRequested(Event):
    type = "export.requested"
    path: str
    requested_by: str


class ExportCompleted(Event):
    type = "export.completed"
    manifest: BlobRef
    files: int
    bytes: int


class ExportFailed(Event):
    type = "export.failed"
    reason: str
