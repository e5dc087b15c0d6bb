"""Ask the Tweaker about dossiers, then for the briefs of the parents."""

import json
from collections.abc import Callable

from schemas import Draft, Event, Recorded, ref_of
from schemas.canonical import listed
from schemas.commands.complete import Completion, CompletionFailed
from schemas.events.brief import (
    BriefDossierQueued,
    BriefDossierReviewed,
    BriefIssued,
    BriefRefused,
    BriefRequested,
)
from schemas.events.selection import SelectionAbandoned
from schemas.values.answers import Briefs, DossierNotes
from services.evolver.core import brief
from services.evolver.core.reflection import measured
from services.evolver.core.selection import board_of
from services.evolver.core.view import Selection, View
from services.evolver.effects.asking import ask
from services.kit.engine import Context


def dossier_due(view: View, recorded: Recorded) -> bool:
    data, selection = recorded.data, view.selection
    assert isinstance(data, BriefDossierQueued)
    if selection is None or selection.closed or selection.abandoned or view.terminal:
        return False
    return selection.dossiers.get(data.part) == data and data.part not in selection.notes


def brief_due(view: View, recorded: Recorded) -> bool:
    selection = view.selection
    if selection is None or selection.closed or selection.abandoned or view.terminal:
        return False
    return selection.brief == recorded.data and selection.issued is None


async def review_dossier(context: Context, recorded: Recorded) -> None:
    queued = recorded.data
    assert isinstance(queued, BriefDossierQueued)
    items = listed(context.blobs.get(queued.fragments), brief.Fragment)
    payload: dict[str, object] = {"fragments": [item.model_dump() for item in items]}
    about = f"{recorded.entity_id}/{queued.part}"
    reply = await ask(context, recorded, "tweaker_dossier", about, payload, queued.tries)

    def judge(selection: Selection, answer: bytes, call: str) -> tuple[Event, bytes | None]:
        broken = brief.dossier_violations(DossierNotes.model_validate_json(answer), items)
        if broken:
            tries = queued.tries + 1
            refused = BriefRefused(
                stage="dossier",
                part=queued.part,
                tries=tries,
                violations=tuple(broken[:50]),
                call=call,
            )
            return refused, None
        reviewed = BriefDossierReviewed(
            part=queued.part, notes=ref_of(answer), coverage=queued.coverage, call=call
        )
        return reviewed, answer

    await _conclude(context, recorded, reply, dossier_due, judge)


async def issue_briefs(context: Context, recorded: Recorded) -> None:
    requested, view = recorded.data, context.view(recorded.run)
    assert isinstance(requested, BriefRequested)
    payload = brief_payload(context, view, requested)
    reply = await ask(
        context, recorded, "tweaker_briefs", recorded.entity_id, payload, requested.tries
    )

    def judge(selection: Selection, answer: bytes, call: str) -> tuple[Event, bytes | None]:
        assert selection.cohorts is not None
        found = Briefs.model_validate_json(answer)
        broken = brief.brief_violations(found, selection.cohorts.elite, requested.births)
        if broken:
            tries = requested.tries + 1
            refused = BriefRefused(
                stage="briefs", tries=tries, violations=tuple(broken[:50]), call=call
            )
            return refused, None
        return BriefIssued(analysis=ref_of(answer), parents=len(found.parents), call=call), answer

    await _conclude(context, recorded, reply, brief_due, judge)


def brief_payload(context: Context, view: View, requested: BriefRequested) -> dict[str, object]:
    selection = view.selection
    assert selection is not None and selection.cohorts is not None and view.benchmark is not None
    cohort = {row.agent: row.cohort for row in selection.cohorts.rows()}
    ranked = [
        row.model_dump(mode="json")
        | {"cohort": cohort[row.agent], "measured": measured(view, row.agent)}
        for row in board_of(view)
    ]
    return {
        "objective": view.benchmark.objective,
        "instructions": view.benchmark.instructions.tweaker,
        "ranked": ranked,
        "notes": [json.loads(context.blobs.get(n.notes)) for n in selection.notes.values()],
        "births": requested.births,
        "elites": list(selection.cohorts.elite),
        "violations": [v.model_dump() for v in requested.violations],
    }


async def _conclude(
    context: Context,
    recorded: Recorded,
    reply: Completion | CompletionFailed,
    due: Callable[[View, Recorded], bool],
    judge: Callable[[Selection, bytes, str], tuple[Event, bytes | None]],
) -> None:
    about, epoch = recorded.entity_id, recorded.envelope.epoch

    def decide(view: View, now: object) -> list[Draft]:
        if not due(view, recorded) or view.selection is None:
            return []
        if isinstance(reply, CompletionFailed):
            return [Draft(about, abandoned(view, "briefs", reply), epoch)]
        answer = context.blobs.get(reply.content)
        event, kept = judge(view.selection, answer, reply.call)
        return [Draft(about, event, epoch, (kept,) if kept else ())]

    await context.transact(recorded.run, "evolver/briefs", decide, about=about)


def abandoned(view: View, stage: str, reply: CompletionFailed) -> SelectionAbandoned:
    """No answer could be had: the run pauses, nobody is harmed, a resume asks again."""
    assert view.selection is not None
    reason = f"{reply.kind}: {reply.detail}"[:2000]
    return SelectionAbandoned(
        epoch=view.selection.epoch, stage=stage, reason=reason, retryable=reply.retryable
    )
