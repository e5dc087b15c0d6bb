"""One row a model call: sums are taken when somebody asks, so applying twice adds nothing."""

from schemas import Event, Recorded
from schemas.events.model_call import ModelCallFailed, ModelCallRecorded
from services.lineage.projections.writes import Write, upsert

HANDLES: tuple[type[Event], ...] = (ModelCallRecorded, ModelCallFailed)


def writes(recorded: Recorded) -> list[Write]:
    match recorded.data:
        case ModelCallRecorded(usage=usage) as event:
            row = upsert(
                "model_calls",
                ("run", "call"),
                run=recorded.run,
                call=event.call,
                role=event.caller.kind,
                caller=event.caller.name,
                purpose=event.purpose,
                model=event.model,
                epoch=recorded.envelope.epoch,
                prompt_tokens=usage.prompt,
                completion_tokens=usage.completion,
                cached_tokens=usage.cached,
                cost=usage.cost,
            )
            return [row]
        case ModelCallFailed() as event:
            row = upsert(
                "failed_calls",
                ("run", "event"),
                run=recorded.run,
                event=recorded.envelope.id,
                role=event.caller.kind,
                caller=event.caller.name,
                purpose=event.purpose,
                kind=event.kind,
                epoch=recorded.envelope.epoch,
            )
            return [row]
        case _:
            return []
