"""What an attempt left behind, sealed. Owner: sandbox. Id: the attempt."""

from schemas.base import Event
from schemas.refs import BlobRef, Sha256, TreeRef


class EvidenceFrozen(Event):
    """`manifest` lists every file with its mark; its hash is the seal of this evidence."""

    type = "evidence.frozen"
    attempt: str
    agent: str
    genome: Sha256
    manifest: TreeRef
    files: int
    bytes: int
    new: int
    activity: int
    candidate: BlobRef | None = None
    rejected: BlobRef | None = None
    rejected_count: int = 0


class EvidenceUnavailable(Event):
    type = "evidence.unavailable"
    attempt: str
    agent: str
    reason: str
