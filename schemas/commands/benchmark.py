"""Commands to the architect."""

from schemas.commands import Command
from schemas.refs import Sha256


class ApproveBenchmark(Command):
    draft_no: int
    benchmark_sha: Sha256


class DeclineBenchmark(Command):
    draft_no: int
    reason: str = ""


class RequestRevision(Command):
    draft_no: int
    notes: str
