"""Generation one. Owner: evolver. Id: `main`."""

from schemas.base import Event, Value
from schemas.refs import BlobRef, Sha256


class Variant(Value):
    """One slot's system prompt; `proposal` names it until it is a genome."""

    slot: int
    proposal: str
    prompt_sha: Sha256


class GenesisBatchQueued(Event):
    type = "genesis.batch_queued"
    batch: int
    first: int
    count: int
    tries: int = 0


class GenesisVariantsDrafted(Event):
    """`variants` has at most 20 rows; `prompts` maps proposal to prompt text."""

    type = "genesis.variants_drafted"
    batch: int
    variants: tuple[Variant, ...]
    prompts: BlobRef
    call: str | None = None


class GenesisBatchFailed(Event):
    type = "genesis.batch_failed"
    batch: int
    tries: int
    reason: str
    retryable: bool = True


class GenesisCompleted(Event):
    type = "genesis.completed"
    population: BlobRef
    count: int
