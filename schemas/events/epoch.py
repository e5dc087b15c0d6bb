"""One epoch. Owner: scheduler. Id: `e003`; an abandoned try stays in the same entity."""

from typing import Literal

from schemas.base import Event
from schemas.refs import BlobRef, Sha256


class EpochOpened(Event):
    """`agents` is a list of `Member` rows, in agent order."""

    type = "epoch.opened"
    epoch: int
    attempt_try: int
    agents: BlobRef
    count: int
    attempt_seconds: int
    finalize_seconds: int
    seed: int
    locks_sha: Sha256


class EpochStalled(Event):
    type = "epoch.stalled"
    epoch: int
    attempt_try: int
    waiting: int


class EpochExecutionClosed(Event):
    """`attempts` is a list of `AttemptRow`, in agent order."""

    type = "epoch.execution_closed"
    epoch: int
    attempt_try: int
    attempts: BlobRef
    count: int


class EpochAbandoned(Event):
    type = "epoch.abandoned"
    epoch: int
    attempt_try: int
    reason: str


class EpochSelectionRequested(Event):
    type = "epoch.selection_requested"
    epoch: int
    attempt_try: int


class EpochClosed(Event):
    type = "epoch.closed"
    epoch: int
    next: Literal["epoch", "completed", "failed"]
