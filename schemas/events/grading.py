"""The judgement of one attempt. Owner: grader. Id: the attempt."""

from schemas.base import Event
from schemas.events.benchmark import Violation
from schemas.refs import BlobRef, Sha256


class GradingOpened(Event):
    """`forced_failure` is set when no judgement can help: a crash or a missing output."""

    type = "grading.opened"
    attempt: str
    agent: str
    genome: Sha256
    evidence: Sha256 | None = None
    missing: tuple[str, ...] = ()
    forced_failure: str | None = None
    programs: tuple[str, ...] = ()
    judged: bool = False


class GradingChunkQueued(Event):
    """`fragments` is a list of {id, ref, text}; `coverage` the hash of their sorted ids."""

    type = "grading.chunk_queued"
    chunk: int
    of: int
    fragments: BlobRef
    count: int
    coverage: Sha256
    tries: int = 0
    violations: tuple[Violation, ...] = ()


class GradingChunkReviewed(Event):
    type = "grading.chunk_reviewed"
    chunk: int
    review: BlobRef
    coverage: Sha256
    call: str


class GradingFactsRequested(Event):
    type = "grading.facts_requested"
    reviews: tuple[BlobRef, ...]
    tries: int = 0
    violations: tuple[Violation, ...] = ()


class GradingFactsExtracted(Event):
    type = "grading.facts_extracted"
    facts: BlobRef
    call: str


class GradingRefused(Event):
    """The model's answer broke the contract. `stage` is chunk or facts."""

    type = "grading.refused"
    stage: str
    chunk: int = 0
    tries: int
    violations: tuple[Violation, ...]
    call: str | None = None


class GradingInterrupted(Event):
    type = "grading.interrupted"
    stage: str
    reason: str
    retryable: bool = True
