"""Who is before whom."""

from decimal import Decimal

from services.grader.core.ranking import rank
from tests.support.given import scored


def order(*scores):
    return [row.agent for row in rank(scores)]


def test_a_success_is_before_a_failure_of_any_score():
    """The outcome comes first."""
    failed = scored("a0001", 99, outcome="failed")
    assert order(failed, scored("a0002", 1)) == ["a0002", "a0001"]


def test_a_higher_score_is_first():
    """Then the score."""
    assert order(scored("a0001", 1), scored("a0002", "1.5"), scored("a0003", 2)) == [
        "a0003",
        "a0002",
        "a0001",
    ]


def test_equal_scores_are_ordered_by_the_tie_break():
    """Then the tie-break, higher first."""
    quick = scored("a0002", tie_break=Decimal("0.5"))
    assert order(scored("a0001"), quick) == ["a0002", "a0001"]


def test_a_tie_break_never_beats_a_score():
    """It only orders equal scores."""
    quick = scored("a0001", 1, tie_break=Decimal(9))
    assert order(quick, scored("a0002", 2)) == ["a0002", "a0001"]


def test_equal_agents_are_ordered_by_number_not_by_text():
    """a1000 comes after a0999, a10000 after a9999."""
    names = ["a10000", "a1000", "a0999", "a9999"]
    assert order(*map(scored, names)) == ["a0999", "a1000", "a9999", "a10000"]


def test_ranks_count_from_one():
    """Every row has a rank of its own."""
    assert [row.rank for row in rank([scored("a0001"), scored("a0002")])] == [1, 2]
