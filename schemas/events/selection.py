"""The turnover of the population. Owner: evolver. Id: `e003`."""

from schemas.base import Event
from schemas.refs import BlobRef


class SelectionCohortsAssigned(Event):
    """`cohorts` is a list of `CohortRow` in rank order."""

    type = "selection.cohorts_assigned"
    epoch: int
    cohorts: BlobRef
    count: int
    elite: int
    middle: int
    culled: int
    births: int
    rule: str


class SelectionAbandoned(Event):
    type = "selection.abandoned"
    epoch: int
    stage: str
    reason: str
    retryable: bool = True


class SelectionClosed(Event):
    """Last of the atomic batch that changes the population. `changes`: `ChangeRow` list."""

    type = "selection.closed"
    epoch: int
    changes: BlobRef
    count: int
