"""Ask the Birther for the prompt variations of generation one."""

from schemas import Draft, Recorded
from schemas.commands.complete import CompletionFailed
from schemas.events.genesis import GenesisBatchQueued
from seed.layer import FRAMEWORK
from services.evolver.core import genesis
from services.evolver.core.view import View
from services.evolver.effects.asking import ask
from services.kit import trees
from services.kit.engine import Context

PROMPT_FILE = "SYSTEM_PROMPT.md"


def due(view: View, recorded: Recorded) -> bool:
    data = recorded.data
    assert isinstance(data, GenesisBatchQueued)
    batch = view.batches.get(data.batch)
    if batch is None or batch.queued != data or view.terminal:
        return False
    return batch.drafted is None and batch.failed is None


async def draft_variants(context: Context, recorded: Recorded) -> None:
    """One batch, concluded by drafted or failed."""
    queued, view = recorded.data, context.view(recorded.run)
    assert isinstance(queued, GenesisBatchQueued)
    base = base_prompt(context, view)
    payload: dict[str, object] = {
        "objective": view.benchmark.objective,
        "instructions": view.genesis.instructions,
        "base_prompt": base,
        "first": queued.first,
        "count": queued.count,
        "population": view.genesis.slots,
    }
    reply = await ask(
        context, recorded, "birther_variants", f"genesis/{queued.batch}", payload, queued.tries
    )

    def decide(view: View, now: object) -> list[Draft]:
        if not due(view, recorded):
            return []
        if isinstance(reply, CompletionFailed):
            return [genesis.failed(queued, f"{reply.kind}: {reply.detail}", retryable=False)]
        return genesis.drafted(queued, base, context.blobs.get(reply.content), reply.call)

    await context.transact(recorded.run, "evolver/variants", decide, about="main")


def base_prompt(context: Context, view: View) -> str:
    """The starter's prompt if it brings one, else the seed's."""
    starter = view.genesis.starter if view.genesis else None
    if starter is not None:
        for file in trees.get_tree(context.blobs, starter.sha256).files:
            if file.path == PROMPT_FILE:
                return context.blobs.read(file.sha256).decode()
    return (FRAMEWORK / PROMPT_FILE).read_text()
