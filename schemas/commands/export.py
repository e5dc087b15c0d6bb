"""Commands to lineage."""

from schemas.commands import Command


class ExportRun(Command):
    """`path` is an absolute folder that does not exist yet."""

    path: str
