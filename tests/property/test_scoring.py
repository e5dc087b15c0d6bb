"""What holds of every score."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from schemas.values.benchmark import Benchmark, Criterion, NumericLinear, ScoreRange, exact
from services.architect.core.contract import Inventory, violations
from services.grader.core.ranking import rank
from services.grader.core.scoring import PLACES, Facts, score
from tests.support.given import agents, benchmark, measured, scored

values = st.one_of(
    st.integers(-(10**18), 10**18),
    st.floats(allow_nan=True, allow_infinity=True),
    st.booleans(),
    st.none(),
    st.text(max_size=3),
)
bounds = st.integers(-(10**9), 10**9)


@st.composite
def benchmarks(draw: st.DrawFn) -> Benchmark:
    """Weights in tenths that total exactly 100, in any order and any number."""
    cuts = sorted(draw(st.sets(st.integers(1, 999), min_size=1, max_size=9)))
    weights = [b - a for a, b in zip([0, *cuts], [*cuts, 1000], strict=True)]
    criteria = []
    for n, tenths in enumerate(weights):
        low, width = draw(bounds), draw(st.integers(1, 10**9))
        up = draw(st.booleans())
        linear = NumericLinear(
            direction="higher" if up else "lower",
            minimum=low,
            target=low + width * (1 if up else -1),
        )
        criteria.append(
            Criterion(
                id=f"c{n}",
                description="x",
                weight=tenths / 10,
                measurement=linear,
                source=measured(f"/{n}"),
            )
        )
    low = draw(bounds)
    high = low + draw(st.integers(1, 10**9))
    return benchmark(criteria=tuple(criteria), score_range=ScoreRange(low=low, high=high))


def facts(contract: Benchmark, numbers: list[object]) -> Facts:
    answer = {str(n): v for n, v in enumerate(numbers)} | {"bad": False, "honest": True}
    return Facts(measured={"measure": answer})  # type: ignore[dict-item]


def extreme(contract: Benchmark, name: str) -> list[object]:
    return [getattr(c.measurement, name) for c in contract.criteria]


@given(benchmarks(), st.data())
def test_a_score_is_within_its_range(contract, data):
    """Whatever was measured, and whatever it says it is."""
    numbers = data.draw(st.lists(values, max_size=len(contract.criteria)))
    found = score(contract, facts(contract, numbers))
    low, high = contract.score_range.low, contract.score_range.high
    assert exact(low) <= found.score <= exact(high)
    assert found.score == found.score.quantize(PLACES)


@given(benchmarks())
def test_targets_earn_all_and_minimums_nothing(contract):
    """Exactly, for every split of the weights; and each such benchmark is valid."""
    low, high = contract.score_range.low, contract.score_range.high
    assert violations(contract, Inventory()) == []
    assert score(contract, facts(contract, extreme(contract, "target"))).score == high
    assert score(contract, facts(contract, extreme(contract, "minimum"))).score == low


@given(benchmarks(), st.data())
def test_a_better_measurement_never_scores_less(contract, data):
    """Monotone in every criterion."""
    size = len(contract.criteria)
    numbers = data.draw(st.lists(bounds, min_size=size, max_size=size))
    n = data.draw(st.integers(0, size - 1))
    step = data.draw(st.integers(0, 10**9))
    better = list(numbers)
    better[n] += step if contract.criteria[n].measurement.direction == "higher" else -step
    one, two = (score(contract, facts(contract, x)).score for x in (numbers, better))
    assert one <= two


@given(benchmarks(), st.data())
def test_the_order_of_criteria_does_not_change_a_score_that_is_whole(contract, data):
    """No order of additions makes 100.00000000000001 of 100."""
    shuffled = data.draw(st.permutations(contract.criteria))
    again = contract.model_copy(update={"criteria": tuple(shuffled)})
    numbers = extreme(contract, "target")
    assert score(again, facts(contract, numbers)).score == contract.score_range.high


rows = st.tuples(
    st.sampled_from(["success", "failed"]),
    st.integers(0, 3).map(Decimal),
    st.integers(0, 2).map(Decimal),
)


@given(st.lists(rows, min_size=1, max_size=30), st.data())
def test_a_ranking_is_one_total_order(drawn, data):
    """Every permutation of the scores gives the same board, each agent once."""
    names = agents(len(drawn), first=990)
    scores = [
        scored(a, s, outcome=o, tie_break=t) for a, (o, s, t) in zip(names, drawn, strict=True)
    ]
    board = rank(scores)
    assert board == rank(data.draw(st.permutations(scores)))
    assert sorted(names) == sorted(row.agent for row in board)
    for before, after in zip(board, board[1:], strict=False):
        keys = [(r.outcome == "success", r.score, r.tie_break) for r in (before, after)]
        assert keys[0] >= keys[1]
        assert keys[0] > keys[1] or int(before.agent[1:]) < int(after.agent[1:])
