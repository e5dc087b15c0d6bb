"""Fragments cover everything, chunks hold everything once."""

from services.grader.core.chunking import (
    CHUNK_CHARS,
    CHUNK_ENTRIES,
    FRAGMENT_CHARS,
    OVERLAP_CHARS,
    Fragment,
    chunks,
    coverage,
    fragments,
)


def test_a_short_text_is_one_fragment():
    """Up to the limit itself."""
    assert [f.id for f in fragments("file:a", "x" * FRAGMENT_CHARS)] == ["file:a#0"]


def test_a_tail_inside_the_overlap_is_not_sent_again():
    """One character more makes a second fragment, and no third."""
    step = FRAGMENT_CHARS - OVERLAP_CHARS
    two = fragments("r", "x" * (FRAGMENT_CHARS + 1))
    assert ["r#0@0", f"r#1@{step}"] == [f.id for f in two]
    assert len(fragments("r", "x" * (step + FRAGMENT_CHARS))) == 2
    assert len(fragments("r", "x" * (step + FRAGMENT_CHARS + 1))) == 3


def piece(n: int, size: int = 10) -> Fragment:
    return Fragment(id=f"f#{n}", ref=f"f{n}", text=f"{n}".rjust(size))


def test_a_chunk_holds_at_most_its_entries():
    """The next one opens another chunk."""
    packed = chunks(piece(n) for n in range(CHUNK_ENTRIES + 1))
    assert [len(chunk) for chunk in packed] == [CHUNK_ENTRIES, 1]


def test_a_chunk_holds_at_most_its_characters():
    """Exactly full is still one chunk."""
    half = CHUNK_CHARS // 2
    assert [len(c) for c in chunks([piece(0, half), piece(1, half), piece(2, 3)])] == [2, 1]


def test_equal_text_is_reviewed_once():
    """Whatever it is called."""
    same = Fragment(id="g#0", ref="g", text=piece(1).text)
    assert [[piece(1)]] == chunks([piece(1), same])


def test_nothing_makes_no_chunk():
    """An empty evidence is an empty list."""
    assert chunks([]) == []


def test_coverage_is_the_hash_of_a_set():
    """The order in which fragments were read does not matter, a missing one does."""
    assert coverage(["a", "b"]) == coverage(["b", "a"]) != coverage(["a"])
