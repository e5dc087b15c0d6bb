"""Genomes and proposals. Owner: lineage. Id: the proposal."""

from typing import Literal

from schemas.base import Event, Value
from schemas.refs import BlobRef, GenomeRef, Sha256, TreeRef

Origin = Literal["genesis", "reflection", "birth"]
RejectReason = Literal[
    "duplicate", "no_change", "unsafe_path", "too_large", "invalid", "dependencies", "trial_failed"
]


class Change(Value):
    path: str
    change: Literal["added", "modified", "deleted"]
    size: int


class GenomeStaged(Event):
    """The proposal as a tree. One that touches code is tried in the sandbox first."""

    type = "genome.staged"
    proposal: str
    origin: Origin
    tree: TreeRef
    prompt: BlobRef
    parent: Sha256 | None = None
    touches_code: bool
    changed: tuple[Change, ...]


class GenomeCommitted(Event):
    type = "genome.committed"
    proposal: str
    genome: GenomeRef
    parent: Sha256 | None = None
    branch: str
    prompt: BlobRef
    changed: tuple[Change, ...]
    origin: Origin


class GenomeRejected(Event):
    type = "genome.rejected"
    proposal: str
    origin: Origin
    reason: RejectReason
    duplicate_of: Sha256 | None = None
    detail: str = ""
