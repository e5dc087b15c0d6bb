"""Ask the Architect model for a benchmark and let the core judge the answer."""

from pathlib import Path

from schemas import Recorded
from schemas.commands.complete import Complete, CompletionFailed
from schemas.events.benchmark import BenchmarkDraftQueued
from services.architect.core import drafting
from services.architect.core.view import View
from services.kit.commands import complete
from services.kit.engine import Context

PROMPT = (Path(__file__).parent.parent / "prompts" / "architect.md").read_text()


def due(view: View, recorded: Recorded) -> bool:
    return view.open_draft == recorded.data


async def draft(context: Context, recorded: Recorded) -> None:
    """One model call, concluded by drafted, refused or failed."""
    queued = recorded.data
    assert isinstance(queued, BenchmarkDraftQueued)
    view: View = context.view(recorded.run)
    content = drafting.payload(view, queued)
    request = Complete(
        run=recorded.run,
        caller="architect",
        purpose="benchmark.draft",
        answer="architect_benchmark",
        about=f"draft-{queued.draft_no}",
        attempt_no=queued.repair,
        system=PROMPT,
        payload=await context.blobs.put(content),
    )
    reply = await complete(context, request)
    if isinstance(reply, CompletionFailed):
        drafts = drafting.failed(f"{reply.kind}: {reply.detail}", queued.repair + 1)
    else:
        answer = context.blobs.get(reply.content)
        drafts = drafting.judge(
            drafting.inventory(view), queued.draft_no, queued.repair, answer, reply.call
        )
    await context.transact(
        recorded.run,
        "architect/draft",
        lambda view, now: drafts if due(view, recorded) else [],
        about="main",
    )
