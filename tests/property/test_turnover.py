"""What holds of every turnover and of every evidence."""

from hypothesis import given
from hypothesis import strategies as st

from schemas.values.tree import Tree
from services.evolver.core.cohorts import assign, most_children, replace_all_but_elite
from services.grader.core import chunking
from services.grader.core.chunking import chunks, fragments
from services.sandbox.core.freezing import split, transient
from tests.support.given import board, file

counts = st.tuples(st.integers(0, 120), st.integers(0, 120)).filter(lambda c: sum(c) >= 4)


@given(counts, st.sampled_from([assign, replace_all_but_elite]))
def test_cohorts_are_a_partition_of_the_board(count, rule):
    """Everybody is in one of them, in rank order; as many are born as go."""
    ranked = board(*count)
    found = rule(ranked, sum(count))
    middle_first = [*found.elite, *found.middle, *found.culled]
    assert middle_first == [row.agent for row in ranked]
    assert found.births == len(found.culled)


@given(counts)
def test_elites_succeeded_and_failures_go(count):
    """No failure survives; a success is an elite whenever there is one."""
    ranked = board(*count)
    found = assign(ranked, sum(count))
    failed = {row.agent for row in ranked if row.outcome == "failed"}
    assert failed <= set(found.culled)
    assert bool(found.elite) == (count[0] > 0)
    assert len(found.elite) * 2 <= sum(count)


@given(st.integers(1, 500), st.integers(1, 200))
def test_the_births_can_always_be_shared_out(births, elites):
    """The cap never makes a brief impossible, and with two elites nobody has all."""
    most = most_children(births, elites)
    assert most * elites >= births
    assert elites < 2 or births < 2 or most < births


@given(st.integers(0, 200_000))
def test_every_character_stands_in_a_fragment(size):
    """No gap, no useless tail, nothing above the limit."""
    text = "".join(chr(0x4E00 + n % 20_000) for n in range(size))
    found = fragments("r", text)
    end = 0
    for piece in found:
        start = int(piece.id.partition("@")[2] or 0)
        assert start <= end and text[start : start + len(piece.text)] == piece.text
        assert len(piece.text) <= chunking.FRAGMENT_CHARS
        assert start + len(piece.text) > end or size == 0
        end = start + len(piece.text)
    assert end == size


@given(st.lists(st.text("ab", max_size=4) | st.integers(0, 60_000), max_size=40))
def test_chunks_cover_every_fragment_exactly_once(items):
    """Equal text once; no chunk above its limits."""
    texts = [i if isinstance(i, str) else f"{i}".rjust(i) for i in items]
    wanted = [f for n, text in enumerate(texts) for f in fragments(f"r{n}", text)]
    packed = chunks(wanted)
    flat = [f for chunk in packed for f in chunk]
    assert [f.text for f in flat] == list(dict.fromkeys(f.text for f in wanted))
    assert len({f.id for f in flat}) == len(flat)
    for chunk in packed:
        assert 0 < len(chunk) <= chunking.CHUNK_ENTRIES
        assert sum(len(f.text) for f in chunk) <= chunking.CHUNK_CHARS


paths = st.sets(st.sampled_from(["workspace/a", "workspace/b", "result.json", "workers/x", "c"]))


@given(paths, paths, paths)
def test_a_frozen_state_is_marked_by_where_it_came_from(before, written, deleted):
    """Every file once; only what lasts goes on; nothing inherited is taken for new."""
    old = Tree(files=tuple(file(p, b"1") for p in sorted(before)))
    changed = [file(p, b"2", "modified" if p in before else "new") for p in sorted(written)]
    gone = deleted - written
    found = split(old, changed, sorted(gone))
    marks = {f.path: f.mark for f in found.evidence.files}
    assert set(marks) == (before - gone) | written
    assert {p for p, mark in marks.items() if mark == "inherited"} == before - gone - written
    assert {f.path for f in found.state.files} == {p for p in marks if not transient(p)}
