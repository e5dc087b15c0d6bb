"""The benchmark on its way to approval. Owner: architect. Id: `main`."""

from schemas.base import Event, Value
from schemas.refs import BlobRef, Sha256


class Violation(Value):
    """One broken rule: where (JSON path) and what."""

    path: str
    message: str


class BenchmarkDraftQueued(Event):
    type = "benchmark.draft_queued"
    draft_no: int
    repair: int = 0
    previous: BlobRef | None = None
    violations: tuple[Violation, ...] = ()
    notes: str = ""


class BenchmarkDraftRefused(Event):
    type = "benchmark.draft_refused"
    draft_no: int
    repair: int
    violations: tuple[Violation, ...]
    answer: BlobRef | None = None
    call: str | None = None


class BenchmarkDrafted(Event):
    type = "benchmark.drafted"
    draft_no: int
    benchmark: BlobRef
    metric: str
    criteria: int
    call: str | None = None


class BenchmarkDraftFailed(Event):
    type = "benchmark.draft_failed"
    tries: int
    reason: str
    violations: tuple[Violation, ...] = ()


class BenchmarkRevisionRequested(Event):
    type = "benchmark.revision_requested"
    draft_no: int
    notes: str


class BenchmarkApproved(Event):
    """v2 says whether a person or the run's own policy approved."""

    type = "benchmark.approved"
    v = 2
    draft_no: int
    benchmark_sha: Sha256
    approved_by: str
    automatic: bool = False


class BenchmarkDeclined(Event):
    type = "benchmark.declined"
    draft_no: int
    declined_by: str
    reason: str = ""
