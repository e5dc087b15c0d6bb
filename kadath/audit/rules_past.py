"""A past made of JSON: blobs by content, events folded as the running services fold them."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Protocol

from schemas import CATALOGUE, Actor, BlobRef, Draft, Envelope, Event, Recorded, canonical, ref_of
from schemas.values.tree import Tree, TreeFile

Json = dict[str, Any]
START = datetime(2026, 1, 1, tzinfo=UTC)
RUN = "r20260101-000000-000000"
SHA = "0" * 64


class Fold(Protocol):
    def apply(self, recorded: Recorded) -> None: ...


class Blobs:
    """Bytes by their hash, as the store holds them."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def keep(self, content: bytes) -> BlobRef:
        ref = ref_of(content)
        self._kept[ref.sha256] = content
        return ref

    def read(self, ref: BlobRef) -> bytes:
        return self._kept[ref.sha256]


class Step(NamedTuple):
    """An event of a past that is written by hand: only what a fold looks at."""

    event: Event
    entity_id: str = "main"
    seq: int = 1
    seconds: float = 0.0
    epoch: int | None = None


def fold(view: Fold, step: Step) -> None:
    """Let the view see one event."""
    envelope = Envelope(
        id=f"{step.seq}",
        type=step.event.type,
        v=step.event.v,
        run=RUN,
        epoch=step.epoch,
        entity=step.event.entity(),
        entity_id=step.entity_id,
        occurred_at=START + timedelta(seconds=step.seconds),
        seen=step.seq - 1,
        actor=Actor(kind="operator", name="rules"),
        by="rules",
        data=step.event,
    )
    view.apply(Recorded(step.seq, envelope))


def event_of(given: Mapping[str, Any]) -> Event:
    """`{"type", "data"}` as the newest class of that type."""
    versions = [v for kind, v in CATALOGUE if kind == given["type"]]
    if not versions:
        raise ValueError(f"unknown event {given['type']}")
    cls = CATALOGUE[given["type"], max(versions)]
    return cls.model_validate(given.get("data", {}))


def texts(given: Mapping[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in given.items()}


def tree_of(files: Mapping[str, bytes], mark: Callable[[str], Any] = lambda path: None) -> Tree:
    """A tree of files by path, with a mark for each."""
    found = []
    for path, content in sorted(files.items()):
        ref = ref_of(content)
        found.append(TreeFile(path=path, size=ref.size, sha256=ref.sha256, mark=mark(path)))
    return Tree(files=tuple(found))


def plain(drafts: list[Draft]) -> list[Json]:
    """Decided events as JSON."""
    return [{"type": d.data.type, "data": d.data.model_dump(mode="json")} for d in drafts]


def kept(blobs: Blobs, value: object) -> BlobRef:
    return blobs.keep(canonical(value))
