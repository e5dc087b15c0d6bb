"""A child on its way into the population. Owner: evolver. Id: `e003-a0042` (the newborn)."""

from schemas.base import Event
from schemas.refs import BlobRef, Sha256


class BirthRequested(Event):
    """`rejected` lists the earlier proposals of this slot and why each failed."""

    type = "birth.requested"
    agent: str
    parent: str
    parent_genome: Sha256
    brief: str
    tries: int = 0
    rejected: tuple[str, ...] = ()


class BirthMutationDrafted(Event):
    type = "birth.mutation_drafted"
    agent: str
    tries: int
    proposal: str
    parent_genome: Sha256
    mutation: BlobRef
    reason: str = ""
    call: str


class BirthMutationRejected(Event):
    type = "birth.mutation_rejected"
    agent: str
    tries: int
    reason: str
    detail: str = ""


class BirthSettled(Event):
    """`clone` true: no proposal survived, the child runs its parent's genome."""

    type = "birth.settled"
    agent: str
    parent: str
    genome: Sha256
    clone: bool = False
