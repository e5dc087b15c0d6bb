"""Ask the Grader model about one chunk, or for the facts, and check what it says."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from schemas import Draft, Recorded, canonical, ref_of
from schemas.commands.complete import Complete, Completion, CompletionFailed
from schemas.events.grading import (
    GradingChunkQueued,
    GradingFactsExtracted,
    GradingFactsRequested,
    GradingInterrupted,
)
from schemas.values.answers import ChunkReview, Facts
from schemas.values.benchmark import Judged
from services.grader.core import grading
from services.grader.core.facts import facts_violations, review_violations
from services.grader.core.view import View
from services.kit.commands import complete
from services.kit.engine import Context

PROMPTS = Path(__file__).parent.parent / "prompts"


class Step(NamedTuple):
    """One question to the model: its stage, what it is about, how often it was asked."""

    stage: str
    about: str
    tries: int


def chunk_due(view: View, recorded: Recorded) -> bool:
    judging, data = view.judging.get(recorded.entity_id), recorded.data
    assert isinstance(data, GradingChunkQueued)
    if judging is None or judging.scored or data.chunk in judging.reviewed:
        return False
    return judging.queued.get(data.chunk) == data and not judging.interrupted


def facts_due(view: View, recorded: Recorded) -> bool:
    judging = view.judging.get(recorded.entity_id)
    if judging is None or judging.scored or judging.facts is not None or judging.interrupted:
        return False
    return judging.facts_requested == recorded.data


async def review_chunk(context: Context, recorded: Recorded) -> None:
    """One chunk, concluded by reviewed, refused or interrupted."""
    queued, view = recorded.data, context.view(recorded.run)
    assert isinstance(queued, GradingChunkQueued)
    items = json.loads(context.blobs.get(queued.fragments))
    payload = {
        "benchmark": judged_part(view),
        "fragments": items,
        "violations": [v.model_dump() for v in queued.violations],
    }
    about = f"{recorded.entity_id}/{queued.chunk}"
    reply = await _ask(context, recorded, Step("chunk", about, queued.tries), payload)

    def conclude(view: View, answer: bytes, call: str) -> list[Draft]:
        review = ChunkReview.model_validate_json(answer)
        refs = {item["ref"] for item in items}
        broken = review_violations(review, [item["id"] for item in items], refs)
        if broken:
            event = grading.refused("chunk", queued.chunk, queued.tries, broken, call)
            return [Draft(recorded.entity_id, event, recorded.envelope.epoch)]
        done = grading.reviewed(view, recorded.entity_id, queued.chunk, answer, call)
        return [Draft(recorded.entity_id, done, recorded.envelope.epoch, (answer,))]

    await _conclude(context, recorded, reply, chunk_due, conclude)


async def extract_facts(context: Context, recorded: Recorded) -> None:
    """The facts of one attempt, concluded by extracted, refused or interrupted."""
    requested, view = recorded.data, context.view(recorded.run)
    assert isinstance(requested, GradingFactsRequested)
    refs = valid_refs(view, recorded.entity_id)
    payload = {
        "items": judged_part(view),
        "notes": [json.loads(context.blobs.get(ref)) for ref in requested.reviews],
        "valid_refs": sorted(refs),
        "violations": [v.model_dump() for v in requested.violations],
    }
    step = Step("facts", f"{recorded.entity_id}/facts", requested.tries)
    reply = await _ask(context, recorded, step, payload)

    def conclude(view: View, answer: bytes, call: str) -> list[Draft]:
        assert view.benchmark is not None
        broken = facts_violations(Facts.model_validate_json(answer), view.benchmark, refs)
        if broken:
            event = grading.refused("facts", 0, requested.tries, broken, call)
            return [Draft(recorded.entity_id, event, recorded.envelope.epoch)]
        extracted = GradingFactsExtracted(facts=ref_of(answer), call=call)
        return [Draft(recorded.entity_id, extracted, recorded.envelope.epoch, (answer,))]

    await _conclude(context, recorded, reply, facts_due, conclude)


def judged_part(view: View) -> dict[str, object]:
    """Only what a model has to judge: measured items are none of its business."""
    assert view.benchmark is not None
    part: dict[str, object] = {"objective": view.benchmark.objective}
    for name in ("criteria", "tie_breaks", "failures", "anti_fraud"):
        rules = [r for r in getattr(view.benchmark, name) if isinstance(r.source, Judged)]
        part[name] = [rule.model_dump(mode="json") for rule in rules]
    part["grader_rules"] = list(view.benchmark.grader_rules)
    part["instructions"] = view.benchmark.instructions.grader
    return part


def valid_refs(view: View, attempt: str) -> set[str]:
    return {fragment.ref for fragment in grading.evidence_fragments(view, attempt)}


async def _ask(
    context: Context, recorded: Recorded, step: Step, payload: dict[str, object]
) -> Completion | CompletionFailed:
    request = Complete(
        run=recorded.run,
        caller="grader",
        purpose=f"grading.{step.stage}",
        answer=f"grader_{step.stage}",
        about=step.about,
        attempt_no=step.tries,
        epoch=recorded.envelope.epoch,
        system=(PROMPTS / f"{step.stage}.md").read_text(),
        payload=await context.blobs.put(canonical(payload)),
    )
    return await complete(context, request)


async def _conclude(
    context: Context,
    recorded: Recorded,
    reply: Completion | CompletionFailed,
    due: Callable[[View, Recorded], bool],
    conclude: Callable[[View, bytes, str], list[Draft]],
) -> None:
    stage = "chunk" if isinstance(recorded.data, GradingChunkQueued) else "facts"

    def decide(view: View, now: datetime) -> list[Draft]:
        if not due(view, recorded):
            return []
        if isinstance(reply, CompletionFailed):
            reason = f"{reply.kind}: {reply.detail}"[:2000]
            event = GradingInterrupted(stage=stage, reason=reason, retryable=reply.retryable)
            return [Draft(recorded.entity_id, event, recorded.envelope.epoch)]
        return conclude(view, context.blobs.get(reply.content), reply.call)

    await context.transact(recorded.run, f"grader/{stage}", decide, about=recorded.entity_id)
