"""What the Tweaker learned from one epoch. Owner: evolver. Id: `e003`."""

from schemas.base import Event
from schemas.events.benchmark import Violation
from schemas.refs import BlobRef, Sha256


class BriefDossierQueued(Event):
    type = "brief.dossier_queued"
    part: int
    of: int
    fragments: BlobRef
    count: int
    coverage: Sha256
    tries: int = 0


class BriefDossierReviewed(Event):
    type = "brief.dossier_reviewed"
    part: int
    notes: BlobRef
    coverage: Sha256
    call: str


class BriefRequested(Event):
    type = "brief.requested"
    births: int
    tries: int = 0
    violations: tuple[Violation, ...] = ()


class BriefRefused(Event):
    """`stage` is dossier or briefs."""

    type = "brief.refused"
    stage: str
    part: int = 0
    tries: int
    violations: tuple[Violation, ...]
    call: str | None = None


class BriefIssued(Event):
    """`analysis` is the Tweaker's whole answer (`Briefs`)."""

    type = "brief.issued"
    analysis: BlobRef
    parents: int
    call: str
