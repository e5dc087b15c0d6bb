"""What the architect knows about a run."""

from collections.abc import Callable

from schemas import BlobRef, Recorded
from schemas.events.benchmark import (
    BenchmarkApproved,
    BenchmarkDeclined,
    BenchmarkDrafted,
    BenchmarkDraftFailed,
    BenchmarkDraftQueued,
    BenchmarkDraftRefused,
    BenchmarkRevisionRequested,
)
from schemas.events.run import (
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunLocked,
    RunPreflightRefused,
    RunRequested,
)

HANDLES = (
    RunRequested, RunLocked, RunCancelled, RunCompleted, RunFailed, RunPreflightRefused,
    BenchmarkDraftQueued, BenchmarkDraftRefused, BenchmarkDrafted, BenchmarkDraftFailed,
    BenchmarkRevisionRequested, BenchmarkApproved, BenchmarkDeclined,
)  # fmt: skip


class View:
    """`open_draft` is the request for a draft that nobody has answered yet."""

    def __init__(self, run: str, read: Callable[[BlobRef], bytes]) -> None:
        self.run = run
        self.read = read
        self.request: RunRequested | None = None
        self.open_draft: BenchmarkDraftQueued | None = None
        self.refused: BenchmarkDraftRefused | None = None
        self.drafted: BenchmarkDrafted | None = None
        self.failed: BenchmarkDraftFailed | None = None
        self.revision: BenchmarkRevisionRequested | None = None
        self.approved = False
        self.declined = False
        self.locked = False
        self.terminal = False

    def apply(self, recorded: Recorded) -> None:
        """Fold one event."""
        match recorded.data:
            case RunRequested() as data:
                self.request = data
            case BenchmarkDraftQueued() as data:
                self.open_draft, self.refused, self.revision = data, None, None
            case BenchmarkDraftRefused() as data:
                self.open_draft, self.refused = None, data
            case BenchmarkDrafted() as data:
                self.open_draft, self.refused, self.drafted = None, None, data
                self.approved = self.declined = False
            case BenchmarkDraftFailed() as data:
                self.open_draft, self.refused, self.failed = None, None, data
            case BenchmarkRevisionRequested() as data:
                self.revision = data
            case BenchmarkApproved():
                self.approved, self.declined = True, False
            case BenchmarkDeclined():
                self.declined = True
            case RunPreflightRefused():
                self.approved = False
            case RunLocked():
                self.locked = True
            case RunCancelled() | RunCompleted() | RunFailed():
                self.terminal = True
