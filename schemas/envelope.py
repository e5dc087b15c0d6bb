"""The envelope around every event, complete by itself: an exported line needs no headers."""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Literal, NamedTuple, cast

from pydantic import SerializeAsAny, create_model
from pydantic_core import SchemaValidator, from_json

from schemas.base import Event, Value


class Actor(Value):
    """Who caused it. `instance` tells two replicas apart."""

    kind: Literal["operator", "service", "organism", "worker"]
    name: str
    instance: str = ""


class Envelope(Value):
    """One event. `recorded_at` and `seq` are the stream's own and live in `Recorded`."""

    id: str
    type: str
    v: int
    run: str
    epoch: int | None = None
    entity: str
    entity_id: str
    occurred_at: datetime
    cause: str | None = None
    correlation: str | None = None
    seen: int
    actor: Actor
    by: str
    about: str | None = None
    traceparent: str | None = None
    data: SerializeAsAny[Event]


class Recorded(NamedTuple):
    """An event as the log holds it.

    `seq` is its stream sequence; `body` its bytes exactly as stored, empty for an event
    that was never read from a log.
    """

    seq: int
    envelope: Envelope
    body: bytes = b""

    @classmethod
    def read(
        cls, seq: int, body: bytes, catalogue: Mapping[tuple[str, int], type[Event]]
    ) -> "Recorded":
        """Parse a stored body. Raises `ValueError`."""
        return cls(seq, decode(body, catalogue), body)

    @property
    def data(self) -> Event:
        return self.envelope.data

    @property
    def run(self) -> str:
        return self.envelope.run

    @property
    def entity_id(self) -> str:
        return self.envelope.entity_id


class Draft(NamedTuple):
    """What a decision wants to say: the kernel adds identity, time and position.

    `blobs` are bytes that `data` refers to; they are stored before the event is appended.
    """

    entity_id: str
    data: Event
    epoch: int | None = None
    blobs: tuple[bytes, ...] = ()


def encode(envelope: Envelope) -> bytes:
    """The JSON body that goes into the stream."""
    return envelope.__pydantic_serializer__.to_json(envelope, exclude_none=True)


_START = re.compile(rb'\{"id":"[^"\\]*","type":"([a-z_.]+)","v":([0-9]{1,9}),')
"""How `encode` begins a body: enough to know its class before it is parsed."""


def decode(body: bytes, catalogue: Mapping[tuple[str, int], type[Event]]) -> Envelope:
    """Parse one body into its newest class. Raises `ValueError` on anything else."""
    start = _START.match(body)
    found = catalogue.get((start[1].decode(), int(start[2]))) if start else None
    if found is not None:
        envelope: Envelope = _validator(found).validate_json(body)
        if envelope.type == found.type and envelope.v == found.v:  # no key stands there twice
            object.__setattr__(envelope, "__class__", Envelope)
            return envelope
    return _decode_any(body, catalogue)


@cache
def _validator(kind: type[Event]) -> SchemaValidator:
    """Parses and validates an envelope around one class in a single pass."""
    around = create_model("Envelope", __base__=Envelope, data=(kind, ...))
    return cast(SchemaValidator, around.__pydantic_validator__)


def _decode_any(body: bytes, catalogue: Mapping[tuple[str, int], type[Event]]) -> Envelope:
    """An older version, a stranger's order of keys, or no event at all."""
    from schemas.upcasts import upcast

    raw = from_json(body)
    if not isinstance(raw, dict):
        raise ValueError("an event is a JSON object")
    kind, version, data = upcast(raw.get("type", ""), raw.get("v", 0), raw.get("data"))
    found = catalogue.get((kind, version))
    if found is None:
        raise ValueError(f"unknown event {kind} v{version}")
    return Envelope.model_validate({**raw, "v": version, "data": found.model_validate(data)})
