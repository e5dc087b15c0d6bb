"""Given: a past of events, folded as the broker folds it."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from schemas import BlobRef, Draft, Envelope, Recorded, canonical
from schemas.envelope import Actor
from schemas.events.budget import BudgetReserved
from schemas.events.grant import GrantIssued
from schemas.events.memory import MemoryPublished, Visibility
from schemas.events.model_call import Caller, ModelCallFailed, ModelCallRecorded
from schemas.events.run import RunRequested
from schemas.values.runtime import Budget, Models, Usage
from services.broker.core.view import View

RUN = "r20260101-000000-000001"
START = datetime(2026, 1, 1, tzinfo=UTC)
SHA = "0" * 64
BLOB = BlobRef(sha256=SHA, size=0)


def given(*drafts: Draft, blobs: dict[str, bytes] | None = None) -> View:
    """Each event a second after the one before, its sequence counting from 1."""
    view = View(RUN, lambda ref: (blobs or {})[ref.sha256])
    for seq, draft in enumerate(drafts, start=1):
        view.apply(Recorded(seq, _envelope(seq, draft)))
    return view


def _envelope(seq: int, draft: Draft) -> Envelope:
    return Envelope(
        id=f"e{seq}",
        type=draft.data.type,
        v=draft.data.v,
        run=RUN,
        epoch=draft.epoch,
        entity=draft.data.entity(),
        entity_id=draft.entity_id,
        occurred_at=START + timedelta(seconds=seq),
        seen=seq - 1,
        actor=Actor(kind="service", name="test"),
        by="test",
        data=draft.data,
    )


def requested(budget: Budget | None = None, seed: int = 7) -> Draft:
    return Draft(
        "main",
        RunRequested(
            name="test",
            goal="A goal.",
            epochs=1,
            population=4,
            epoch_seconds=60,
            models=Models(specialist="big", organism="small"),
            budget=budget or Budget(),
            seed=seed,
        ),
    )


def granted(grant: str = "g1", attempt: str = "e001x1-a0001", agent: str = "a0001") -> Draft:
    event = GrantIssued(
        grant=grant,
        attempt=attempt,
        agent=agent,
        genome=SHA,
        scopes=("chat",),
        expires_at=START + timedelta(hours=1),
    )
    return Draft(grant, event, 1)


def reserved(grant: str = "g1", tokens: int = 100, calls: int = 4) -> Draft:
    return Draft(grant, BudgetReserved(grant=grant, tokens=tokens, calls=calls), 1)


def called(
    tokens: int = 10,
    attempt: str | None = None,
    call: str = "c1",
    usd: str | None = None,
    key: str = SHA,
) -> Draft:
    kind = "organism" if attempt else "specialist"
    event = ModelCallRecorded(
        call=call,
        key=key,
        tape_key=SHA,
        caller=Caller(kind=kind, name="x", attempt=attempt),
        purpose="test",
        model="m",
        request=BLOB,
        response=BLOB,
        finish="stop",
        usage=Usage(prompt=tokens, cost=Decimal(usd) if usd else None),
        latency_ms=1,
        tries=1,
    )
    return Draft(call, event)


def failed(kind: str = "empty", attempt_no: int = 1, call: str = "c1") -> Draft:
    event = ModelCallFailed.model_validate(
        {
            "call": call,
            "key": SHA,
            "caller": {"kind": "specialist", "name": "x"},
            "purpose": "test",
            "model": "m",
            "request": BLOB.model_dump(),
            "attempt_no": attempt_no,
            "kind": kind,
            "retryable": True,
        }
    )
    return Draft(call, event)


def published(record: str = "m1", agent: str = "a0001", visibility: Visibility = "own") -> Draft:
    event = MemoryPublished(
        record=record,
        agent=agent,
        kind="finding",
        summary=record,
        visibility=visibility,
        attempt=f"e001x1-{agent}",
        content_sha=SHA,
    )
    return Draft(record, event, 1)


def completion(text: object, finish: object = "stop", **more: object) -> bytes:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return canonical({"choices": [choice], **more})
