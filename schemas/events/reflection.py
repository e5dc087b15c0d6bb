"""A middle agent rewriting itself. Owner: evolver. Id: `e003-a0012`."""

from typing import Literal

from schemas.base import Event
from schemas.refs import BlobRef, Sha256


class ReflectionRequested(Event):
    type = "reflection.requested"
    agent: str
    genome: Sha256
    state: Sha256 | None = None
    context: BlobRef
    wall_seconds: int


class ReflectionProposed(Event):
    type = "reflection.proposed"
    agent: str
    proposal: str
    parent: Sha256
    mutation: BlobRef
    reason: str = ""


class ReflectionSettled(Event):
    """`changed` false: the scored genome stays, for the reason given."""

    type = "reflection.settled"
    agent: str
    genome: Sha256
    changed: bool
    because: Literal[
        "mutated", "chose", "crashed", "duplicate", "no_change", "invalid", "trial_failed"
    ]
    detail: str = ""
