"""What happened last, as short inert lines: everything but the traffic of models and budgets."""

from schemas import CATALOGUE, Event, Recorded
from services.lineage.projections.writes import Write, upsert

QUIET = ("model_call", "budget", "grant", "chain")
TELLING = ("reason", "because", "outcome", "detail", "cause", "rank", "score", "origin")
HANDLES: tuple[type[Event], ...] = tuple(
    event for event in CATALOGUE.values() if event.entity() not in QUIET
)


def writes(recorded: Recorded) -> list[Write]:
    row = upsert(
        "activity",
        ("run", "seq"),
        run=recorded.run,
        seq=recorded.seq,
        event=recorded.envelope.type,
        entity_id=recorded.entity_id,
        epoch=recorded.envelope.epoch,
        text=text_of(recorded.data),
        happened_at=recorded.envelope.occurred_at,
    )
    return [row]


def text_of(event: Event) -> str:
    """The few fields that say most, or the summary an agent published."""
    summary = getattr(event, "summary", None)
    if isinstance(summary, str):
        return _inert(summary)
    found = {name: getattr(event, name, None) for name in TELLING}
    return _inert(", ".join(f"{name} {value}" for name, value in found.items() if value))


def _inert(text: str) -> str:
    """PostgreSQL takes no NUL, and a terminal should get no escape sequence."""
    return "".join(c if c.isprintable() else " " for c in text)[:300]
