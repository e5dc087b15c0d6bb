"""Ask the Birther for a mutation of one parent's complete commit."""

from schemas import BlobRef, Draft, Recorded, ids, ref_of
from schemas.commands.complete import CompletionFailed
from schemas.events.birth import BirthMutationDrafted, BirthRequested
from schemas.values.mutation import Mutation
from schemas.values.tree import Tree
from services.evolver.core.birth import proposal_of
from services.evolver.core.reflection import measured
from services.evolver.core.view import View
from services.evolver.effects.asking import ask
from services.evolver.effects.issue_briefs import abandoned
from services.kit import trees
from services.kit.engine import Context

SOURCE_CHARS = 150_000
VENDORED = ("smolagents/", "kadath_runtime/", ".champion/")


def due(view: View, recorded: Recorded) -> bool:
    selection = view.selection
    if selection is None or selection.closed or selection.abandoned or view.terminal:
        return False
    birth = selection.births.get(recorded.entity_id)
    if birth is None or birth.settled is not None or birth.drafted is not None:
        return False
    return birth.requests[-1] == recorded.data


async def draft_mutation(context: Context, recorded: Recorded) -> None:
    """One try of one birth, concluded by a proposal or by an abandoned selection."""
    requested, view = recorded.data, context.view(recorded.run)
    assert isinstance(requested, BirthRequested)
    about = recorded.entity_id
    payload = payload_of(context, view, about, requested)
    reply = await ask(context, recorded, "birther_mutation", about, payload, requested.tries)

    def decide(view: View, now: object) -> list[Draft]:
        if not due(view, recorded):
            return []
        if isinstance(reply, CompletionFailed):
            gone = abandoned(view, "birth", reply)
            return [Draft(about.partition("-")[0], gone, recorded.envelope.epoch)]
        answer = context.blobs.get(reply.content)
        drafted = BirthMutationDrafted(
            agent=requested.agent,
            tries=requested.tries,
            proposal=proposal_of(about, requested.tries),
            parent_genome=requested.parent_genome,
            mutation=ref_of(answer),
            reason=Mutation.model_validate_json(answer).reason[:2000],
            call=reply.call,
        )
        return [Draft(about, drafted, recorded.envelope.epoch, (answer,))]

    await context.transact(recorded.run, "evolver/birth", decide, about=about)


def payload_of(
    context: Context, view: View, about: str, requested: BirthRequested
) -> dict[str, object]:
    """The parent's own files whole, the vendored framework only where it was changed."""
    selection, request = view.selection, view.request
    assert selection is not None and selection.cohorts is not None and request is not None
    assert view.benchmark is not None and view.epoch is not None
    return {
        "objective": view.benchmark.objective,
        "instructions": view.benchmark.instructions.birther,
        "parent": _parent(context, view, requested),
        "elites": [_elite(context, view, agent) for agent in selection.cohorts.elite],
        "brief": requested.brief,
        "rejected": [{"reason": text, "detail": ""} for text in requested.rejected],
        "strategy": {"name": request.strategy.name, "params": {}},
        "slot": requested.agent,
        "seed": ids.seed_of(view.epoch.seed, "birth", requested.agent, requested.tries),
        "epoch": selection.epoch,
    }


def _parent(context: Context, view: View, requested: BirthRequested) -> dict[str, object]:
    tree = trees.get_tree(context.blobs, view.genomes[requested.parent_genome].files.sha256)
    prompt: BlobRef = view.prompts[requested.parent_genome]
    return {
        "agent": requested.parent,
        "genome": requested.parent_genome,
        "score": str(view.scores[requested.parent].score),
        "prompt": context.blobs.get(prompt).decode(),
        "files": own_files(context, view, tree),
        "listing": [file.path for file in tree.files],
        "measured": measured(view, requested.parent),
    }


def _elite(context: Context, view: View, agent: str) -> dict[str, object]:
    tree = trees.get_tree(context.blobs, view.genomes[view.genome_of[agent]].files.sha256)
    return {
        "agent": agent,
        "score": str(view.scores[agent].score),
        "files": own_files(context, view, tree),
        "measured": measured(view, agent),
    }


def own_files(context: Context, view: View, tree: Tree) -> dict[str, str]:
    """Text of what differs from the vendored seed, up to a bound."""
    assert view.locked is not None
    base = trees.get_tree(context.blobs, view.locked.runtime.seed_sha)
    vendored = {f.path: f.sha256 for f in base.files if f.path.startswith(VENDORED)}
    found: dict[str, str] = {}
    left = SOURCE_CHARS
    for file in tree.files:
        if vendored.get(file.path) == file.sha256 or file.path == "SYSTEM_PROMPT.md":
            continue
        text = context.blobs.read(file.sha256).decode(errors="replace")
        if len(text) <= left:
            found[file.path] = text
            left -= len(text)
    return found
