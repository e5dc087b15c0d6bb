"""Publishing and rating what agents remember."""

import json
import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from schemas import Draft, canonical, digest
from schemas.events.memory import MemoryPublished, MemoryRated, Visibility
from services.broker.core.clean import clean
from services.broker.core.view import Grant, View

CAP = 200
SUMMARY_CHARS = 2000
BODY_CHARS = 8000
REFS = 25
REF_CHARS = 500
KIND = re.compile(r"^[a-z][a-z0-9_]{0,39}$")
RESERVED = re.compile(r"^(epoch_report|adaptation.*|runtime_.*|kernel_.*|worker_.*)$")
"""Kinds that only the kernel may write: an organism must not speak in its name."""


class Invalid(NamedTuple):
    """`status` is the HTTP status that says it best."""

    reason: str
    status: Literal[400, 403, 404, 413, 429] = 400


class Note(NamedTuple):
    kind: str
    summary: str
    body: str
    evidence_refs: tuple[str, ...]
    visibility: Visibility


def note(body: Mapping[str, object]) -> Note | Invalid:
    """A memory as an organism sends it, cleaned and bounded."""
    kind, visibility = body.get("kind", "finding"), body.get("visibility", "population")
    if not isinstance(kind, str) or not KIND.match(kind) or RESERVED.match(kind):
        return Invalid("kind must be a short lower-case word that the kernel does not use")
    if visibility not in ("own", "population"):
        return Invalid('visibility must be "own" or "population"')
    summary, refs = _text(body, "summary", SUMMARY_CHARS), _refs(body.get("evidence_refs"))
    if isinstance(summary, Invalid) or isinstance(refs, Invalid):
        return summary if isinstance(summary, Invalid) else refs  # type: ignore[return-value]
    if not summary.strip():
        return Invalid("summary must not be empty")
    text = _text(body, "body", BODY_CHARS)
    if isinstance(text, Invalid):
        return text
    return Note(kind, summary, text, refs, "own" if visibility == "own" else "population")


def activity(body: Mapping[str, object]) -> Note | Invalid:
    """An activity line becomes a memory of its own agent."""
    rest = {k: body[k] for k in ("outcome", "next_step", "strategy") if body.get(k)}
    for value in rest.values():
        if not isinstance(value, str):
            return Invalid("outcome, next_step and strategy must be text")
    limit = BODY_CHARS // 4 - 100
    text = json.dumps({k: clean(str(v), limit) for k, v in rest.items()}, ensure_ascii=False)
    return note(
        {
            "kind": "activity",
            "summary": body.get("summary"),
            "body": text if rest else "",
            "evidence_refs": body.get("evidence_refs") or [],
            "visibility": "own",
        }
    )


def _text(body: Mapping[str, object], name: str, limit: int) -> str | Invalid:
    value = body.get(name) or ""
    if not isinstance(value, str):
        return Invalid(f"{name} must be text")
    if len(value) > limit:
        return Invalid(f"{name} must have at most {limit} characters")
    return clean(value, limit)


def _refs(value: object) -> tuple[str, ...] | Invalid:
    refs = value or []
    if not isinstance(refs, list) or not all(isinstance(ref, str) for ref in refs):
        return Invalid("evidence_refs must be a list of texts")
    if len(refs) > REFS:
        return Invalid(f"evidence_refs must have at most {REFS} items")
    return tuple(clean(ref, REF_CHARS) for ref in refs)


def content_sha(item: Note) -> str:
    return digest(canonical([item.kind, item.summary, item.body, list(item.evidence_refs)]))


def record_id(agent: str, item: Note) -> str:
    """An exact repeat of one owner and kind has the same id, also when a run is replayed."""
    return f"m{digest(canonical([agent, content_sha(item)]))[:31]}"


def publish(view: View, grant: Grant, item: Note) -> list[Draft] | Invalid:
    """The record, unless it is there already; at most `CAP` an attempt."""
    record = record_id(grant.agent, item)
    if record in view.memories:
        return []
    if view.published.get(grant.attempt, 0) >= CAP:
        return Invalid(f"an attempt may publish {CAP} records", 429)
    event = MemoryPublished(
        record=record,
        agent=grant.agent,
        kind=item.kind,
        summary=item.summary,
        body=item.body,
        evidence_refs=item.evidence_refs,
        visibility=item.visibility,
        genome=grant.genome,
        attempt=grant.attempt,
        content_sha=content_sha(item),
    )
    return [Draft(record, event, grant.epoch)]


def rate(view: View, grant: Grant, record: str, value: object) -> list[Draft] | Invalid:
    """One vote a rater, the last one counts; nobody rates itself or its own line."""
    if value not in (-1, 1) or isinstance(value, bool):
        return Invalid("value must be -1 or 1")
    found = view.memories.get(record)
    line = {link.agent for link in view.ancestry.chain(grant.agent)} | {grant.agent}
    if found is None or not (found.population or found.agent in line):
        return Invalid("no such record", 404)
    if found.agent in line:
        return Invalid("own and inherited records cannot be rated", 403)
    if view.ratings.get((record, grant.agent)) == value:
        return []
    vote: Literal[-1, 1] = 1 if value == 1 else -1
    return [Draft(record, MemoryRated(record=record, rater=grant.agent, value=vote), grant.epoch)]
