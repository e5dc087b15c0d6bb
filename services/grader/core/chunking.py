"""Text evidence in overlapping fragments, packed into chunks whose coverage is counted."""

from collections.abc import Iterable, Sequence

from pydantic import Field

from schemas import canonical, digest
from schemas.base import Value

FRAGMENT_CHARS = 24_000
OVERLAP_CHARS = 512
CHUNK_CHARS = 48_000
CHUNK_ENTRIES = 24


class Fragment(Value):
    """A piece of one evidence item; `id` is `<ref>#<part>@<offset>`."""

    id: str
    ref: str = Field(description="what a fact may cite")
    text: str


def fragments(ref: str, text: str) -> list[Fragment]:
    """The whole text, cut so that every character stands in at least one fragment."""
    if len(text) <= FRAGMENT_CHARS:
        return [Fragment(id=f"{ref}#0", ref=ref, text=text)]
    step = FRAGMENT_CHARS - OVERLAP_CHARS
    # The last piece must bring something new: a tail inside the overlap was sent already.
    starts = [s for s in range(0, len(text), step) if s == 0 or s + OVERLAP_CHARS < len(text)]
    return [
        Fragment(id=f"{ref}#{n}@{s}", ref=ref, text=text[s : s + FRAGMENT_CHARS])
        for n, s in enumerate(starts)
    ]


def chunks(items: Iterable[Fragment]) -> list[list[Fragment]]:
    """Packed in order; equal text is reviewed once."""
    packed: list[list[Fragment]] = []
    seen: set[str] = set()
    size = 0
    for item in items:
        if item.text in seen:
            continue
        seen.add(item.text)
        full = not packed or len(packed[-1]) >= CHUNK_ENTRIES
        if full or size + len(item.text) > CHUNK_CHARS:
            packed.append([])
            size = 0
        packed[-1].append(item)
        size += len(item.text)
    return packed


def coverage(ids: Sequence[str]) -> str:
    """The hash of a set of fragment ids: the kernel's own count of what was reviewed."""
    return digest(canonical(sorted(ids)))
