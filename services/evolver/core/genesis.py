"""Generation one: the same framework for all, a prompt of its own for each."""

from datetime import datetime

from schemas import Draft, canonical, digest, ids, ref_of
from schemas.canonical import rows
from schemas.events.agent import AgentBorn
from schemas.events.genesis import (
    GenesisBatchFailed,
    GenesisBatchQueued,
    GenesisCompleted,
    GenesisVariantsDrafted,
    Variant,
)
from schemas.values.answers import Variants
from schemas.values.population import Member
from services.evolver.core.view import Batch, View

BATCH = 20
TRIES = 3


def advance(view: View, about: str, now: datetime) -> list[Draft]:
    """Queue what is missing; when every slot has a genome, everybody is born at once."""
    if view.genesis is None or view.genesis_done or view.terminal:
        return []
    slots = view.genesis.slots
    missing = [n for n in range((slots + BATCH - 1) // BATCH) if n not in view.batches]
    if missing:
        return [_queue(n, slots, 0) for n in missing]
    again = [b for b in view.batches.values() if b.failed and b.failed.tries == b.queued.tries]
    if again:
        return [_retry(batch) for batch in again if batch.failed and batch.failed.retryable]
    proposals = [f"g-{ids.agent_id(n)}" for n in range(1, slots + 1)]
    if any(proposal not in view.committed for proposal in proposals):
        return []
    return _born(view, proposals)


def resume(view: View, about: str, now: datetime) -> list[Draft]:
    """After a pause a batch that gave up is asked for again."""
    if view.genesis is None or view.genesis_done or view.terminal:
        return []
    stuck = [b for b in view.batches.values() if b.failed and not b.failed.retryable]
    return [_retry(batch) for batch in stuck]


def _queue(number: int, slots: int, tries: int) -> Draft:
    first = number * BATCH + 1
    count = min(BATCH, slots - first + 1)
    queued = GenesisBatchQueued(batch=number, first=first, count=count, tries=tries)
    return Draft(ids.MAIN, queued)


def _retry(batch: Batch) -> Draft:
    return Draft(ids.MAIN, batch.queued.model_copy(update={"tries": batch.queued.tries + 1}))


def _born(view: View, proposals: list[str]) -> list[Draft]:
    genomes = [view.committed[proposal].genome.genome for proposal in proposals]
    members = [Member(agent=ids.agent_id(n), genome=g) for n, g in enumerate(genomes, start=1)]
    listed = rows(members)
    born = [
        Draft(m.agent, AgentBorn(agent=m.agent, genome=m.genome, birth_epoch=1)) for m in members
    ]
    done = GenesisCompleted(population=listed.ref, count=listed.count)
    return [*born, Draft(ids.MAIN, done, None, (listed.content,))]


def drafted(queued: GenesisBatchQueued, base: str, answer: bytes, call: str) -> list[Draft]:
    """Prompts out of the Birther's variations; the slot number keeps them distinct."""
    found = [text.strip() for text in Variants.model_validate_json(answer).variations]
    if len(found) != queued.count or not all(found):
        reason = f"{queued.count} variations were asked for, {len(found)} came"
        return [failed(queued, reason, queued.tries < TRIES)]
    slots = range(queued.first, queued.first + queued.count)
    prompts = {
        f"g-{ids.agent_id(slot)}": prompt_of(base, slot, text)
        for slot, text in zip(slots, found, strict=True)
    }
    variants = tuple(
        Variant(slot=slot, proposal=p, prompt_sha=digest(prompts[p].encode()))
        for slot, p in zip(slots, prompts, strict=True)
    )
    content = canonical(prompts)
    event = GenesisVariantsDrafted(
        batch=queued.batch, variants=variants, prompts=ref_of(content), call=call
    )
    return [Draft(ids.MAIN, event, None, (content,))]


def prompt_of(base: str, slot: int, variation: str) -> str:
    return f"{base.rstrip()}\n\n## Your way of working (variation {slot})\n\n{variation}\n"


def failed(queued: GenesisBatchQueued, reason: str, retryable: bool) -> Draft:
    event = GenesisBatchFailed(
        batch=queued.batch, tries=queued.tries, reason=reason[:2000], retryable=retryable
    )
    return Draft(ids.MAIN, event)
