"""30 / 40 / 30, with every rounding pinned."""

import pytest

from services.evolver.core.cohorts import (
    ELITE,
    assign,
    most_children,
    replace_all_but_elite,
    share,
)
from tests.support.given import agents, board

SHARES = {
    4: 1, 5: 2, 6: 2, 7: 2, 8: 2, 9: 3, 10: 3, 11: 3, 12: 4, 13: 4, 14: 4, 15: 5, 16: 5, 17: 5,
    18: 5, 19: 6, 20: 6, 25: 8, 35: 11, 45: 14, 55: 17, 65: 20, 75: 23, 85: 26, 95: 29, 100: 30,
}  # fmt: skip


@pytest.mark.parametrize(("population", "expected"), SHARES.items())
def test_a_half_rounds_up_for_every_population(population, expected):
    """5, 15, 25 and 35 alike."""
    assert expected == share(population, ELITE)
    found = assign(board(population), population)
    sizes = (len(found.elite), len(found.middle), len(found.culled))
    assert (expected, population - 2 * expected, expected) == sizes
    assert expected == found.births


def test_even_one_agent_is_an_elite():
    """At least one."""
    assert share(1, ELITE) == 1


def test_failed_agents_are_culled_before_low_ranked_ones():
    """Failures fill the cull first; only the rest comes from the bottom of the successes."""
    found = assign(board(8, 2), 10)
    names = agents(10)
    assert (tuple(names[:3]), tuple(names[3:7]), tuple(names[7:])) == found[:3]


@pytest.mark.parametrize(
    ("population", "failures", "sizes"),
    [
        (10, 5, (3, 2, 5)),
        (10, 7, (3, 0, 7)),
        (10, 8, (2, 0, 8)),
        (20, 10, (6, 4, 10)),
        (100, 45, (30, 25, 45)),
        (100, 75, (25, 0, 75)),
        (4, 3, (1, 0, 3)),
        (4, 4, (0, 0, 4)),
    ],
)
def test_every_failure_is_culled(population, failures, sizes):
    """However many there are; elites are successes."""
    found = assign(board(population - failures, failures), population)
    assert sizes == (len(found.elite), len(found.middle), len(found.culled))


def test_the_control_replaces_all_but_the_elite():
    """Nobody adapts."""
    found = replace_all_but_elite(board(9, 1), 10)
    assert (len(found.elite), len(found.middle), len(found.culled)) == (3, 0, 7)
    assert tuple(agents(10)[3:]) == found.culled


def test_rows_are_in_rank_order():
    """Elite, middle, culled."""
    rows = assign(board(4), 4).rows()
    assert [row.cohort for row in rows] == ["elite", "middle", "middle", "culled"]
    assert agents(4) == [row.agent for row in rows]


@pytest.mark.parametrize(
    ("births", "elites", "most"), [(5, 1, 5), (5, 2, 3), (4, 2, 2), (1, 3, 1), (3, 3, 2)]
)
def test_no_parent_has_more_than_half_of_the_births(births, elites, most):
    """Rounded up; a single elite has all."""
    assert most == most_children(births, elites)
