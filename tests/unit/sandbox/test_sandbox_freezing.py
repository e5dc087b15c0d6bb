"""Which files are evidence, which are inherited, how a state goes on."""

import pytest

from schemas.values.tree import Tree
from services.sandbox.core import freezing
from tests.support.given import file

BEFORE = Tree(
    files=(file("workspace/a", b"1"), file("workspace/b", b"2"), file("workspace/c", b"3"))
)


def test_every_file_is_marked_and_deletions_are_listed():
    """Inherited work is never taken for new work."""
    changed = [file("workspace/b", b"9", "modified"), file("workspace/d", b"4", "new")]
    found = freezing.split(BEFORE, changed, ["workspace/c"])
    assert [(f.path, f.mark) for f in found.evidence.files] == [
        ("workspace/a", "inherited"),
        ("workspace/b", "modified"),
        ("workspace/d", "new"),
    ]
    assert found.evidence.deleted == ("workspace/c",)


def test_a_state_goes_on_without_marks_and_without_results():
    """A descendant never inherits an answer, a proposal or a trace."""
    names = ["candidate.json", "result.json", "workers/x", "checkpoints/y", "workspace/result.json"]
    found = freezing.split(BEFORE, [file(n, mark="new") for n in names], [])
    assert [f.path for f in found.state.files] == [
        "workspace/a",
        "workspace/b",
        "workspace/c",
        "workspace/result.json",
    ]
    assert {None} == {f.mark for f in found.state.files}


def test_a_file_counts_if_this_attempt_wrote_it():
    """An inherited one is not found."""
    files = [file("a", mark="inherited"), file("b", mark="new")]
    assert freezing.find(files, "a") is None
    assert files[1] == freezing.find(files, "b")
    assert freezing.find(files, "c") is None


@pytest.mark.parametrize(
    ("content", "valid"),
    [
        (b'{"status": "done"}', True),
        (b'{"status": "busy"}', False),
        (b'["done"]', False),
        (b"{", False),
        (b"\xff", False),
        (b"[" * 200_000, False),
    ],
)
def test_a_result_is_an_object_that_says_it_is_done(content, valid):
    """Anything else is a crash."""
    assert valid == freezing.valid_result(content)


@pytest.mark.parametrize(
    ("content", "valid"),
    [
        (b"5", True),
        (b"0", True),
        (b"false", True),
        (b'{"a": 1}', True),
        (b"null", False),
        (b'""', False),
        (b"[]", False),
        (b"{}", False),
        (b"{", False),
        (b'"' + b"x" * freezing.CANDIDATE_BYTES + b'"', False),
    ],
)
def test_a_candidate_is_json_that_says_something(content, valid):
    """An invalid one does not satisfy a required output."""
    assert valid == freezing.valid_candidate(content)


def test_a_broken_activity_line_counts_as_none_and_stops_nothing():
    """Only objects are activity."""
    assert freezing.activity_lines(b'{"a": 1}\nbroken\n\xff\n[1]\n{}\n') == 2


def test_a_mutation_is_an_object():
    """Its contract is checked later."""
    assert [freezing.valid_object(b) for b in (b"{}", b"[]")] == [True, False]
