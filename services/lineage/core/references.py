"""Which blobs a log names, through trees and benchmarks: what an export must hold."""

from collections.abc import Callable, Iterable, Iterator

from pydantic import ValidationError

from schemas import BlobRef, Event, TreeRef, Value
from schemas.events.preflight import PreflightCheckPassed
from schemas.values.benchmark import Benchmark
from schemas.values.tree import Tree

TREE_MEDIA = "application/vnd.kadath.tree+json"


def closure(events: Iterable[Event], read: Callable[[BlobRef], bytes]) -> dict[str, BlobRef]:
    """Every blob by its hash. `read` raises on one that is missing."""
    found: dict[str, BlobRef] = {}
    for event in events:
        for ref in named_by(event):
            _follow(ref, read, found)
        benchmark = getattr(event, "benchmark", None)
        if isinstance(benchmark, BlobRef):
            for ref in _in_benchmark(read(benchmark)):
                _follow(ref, read, found)
    return found


def named_by(event: Event) -> Iterator[BlobRef]:
    """The references that stand in the event itself."""
    if isinstance(event, PreflightCheckPassed) and "seed_sha" in event.resolved:
        yield TreeRef(sha256=event.resolved["seed_sha"], size=0)
    yield from _within(event)


def _within(value: object) -> Iterator[BlobRef]:
    if isinstance(value, BlobRef):
        yield value
    elif isinstance(value, Value):
        for name in type(value).model_fields:
            yield from _within(getattr(value, name))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _within(item)


def _follow(ref: BlobRef, read: Callable[[BlobRef], bytes], found: dict[str, BlobRef]) -> None:
    if ref.sha256 in found:
        return
    found[ref.sha256] = ref
    if ref.media == TREE_MEDIA:
        for file in Tree.model_validate_json(read(ref)).files:
            found.setdefault(file.sha256, BlobRef(sha256=file.sha256, size=file.size))


def _in_benchmark(content: bytes) -> Iterator[BlobRef]:
    try:
        yield from _within(Benchmark.model_validate_json(content))
    except ValidationError:  # a refused draft names nothing
        return
