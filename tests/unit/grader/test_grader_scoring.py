"""The locked formulas."""

from decimal import Decimal

import pytest

from schemas.values.answers import CriterionFact
from schemas.values.benchmark import (
    AntiFraud,
    Binary,
    Criterion,
    FailureRule,
    Judged,
    Kernel,
    Level,
    Levels,
    NumericLinear,
    ScoreRange,
    TieBreak,
)
from services.grader.core.scoring import FAILED_TIE, Facts, fraction, number, pointed, score
from tests.support.given import benchmark, measured

GOOD = {"value": 5, "bad": False, "honest": True}


def facts(**more: object) -> Facts:
    return Facts(measured={"measure": GOOD | more}, kernel={"wall_seconds": 25})  # type: ignore[dict-item]


def criterion(weight: float, pointer: str = "/value", **changes: object) -> Criterion:
    fields: dict[str, object] = {
        "id": pointer,
        "description": "x",
        "weight": weight,
        "measurement": NumericLinear(direction="higher", minimum=0, target=10),
        "source": measured(pointer),
    }
    return Criterion(**fields | changes)  # type: ignore[arg-type]


def test_a_measured_value_earns_its_share_of_the_range():
    """Half the way from minimum to target is half of the score range."""
    found = score(benchmark(), facts())
    assert ("success", Decimal("50"), Decimal("0.75")) == (
        found.outcome,
        found.score,
        found.tie_break,
    )
    assert found.criteria[0].refs == ("external:measure",)


@pytest.mark.parametrize(("value", "expected"), [(-3, 0), (0, 0), (2.5, 25), (10, 100), (99, 100)])
def test_a_value_outside_minimum_and_target_is_clamped(value, expected):
    """No value earns less than nothing or more than everything."""
    assert Decimal(expected) == score(benchmark(), facts(value=value)).score


@pytest.mark.parametrize(("value", "expected"), [(0, 1), (4, "0.6"), (10, 0), (11, 0)])
def test_a_lower_direction_earns_for_small_values(value, expected):
    """Minimum above target: everything at the target."""
    lower = criterion(1, measurement=NumericLinear(direction="lower", minimum=10, target=0))
    assert Decimal(expected) == fraction(lower, value)


@pytest.mark.parametrize("value", [True, "5", None, float("nan"), float("inf"), [5], {}])
def test_what_is_no_finite_number_earns_nothing(value):
    """Booleans, strings, NaN and infinities are no numbers."""
    assert number(value) is None
    assert Decimal(0) == fraction(criterion(1), value)


@pytest.mark.parametrize(("value", "earned"), [(True, 1), (False, 0), (1, 0), ("true", 0)])
def test_a_binary_criterion_earns_for_true_only(value, earned):
    """One is not true."""
    assert Decimal(earned) == fraction(criterion(1, measurement=Binary()), value)


def test_a_level_earns_its_fraction_and_an_unknown_one_nothing():
    """The kernel takes the fraction that was locked."""
    levels = Levels(levels=tuple(Level(id=i, description=i, fraction=f) for i, f in LEVELS))
    named = criterion(1, measurement=levels)
    assert [Decimal("0.3"), Decimal(0)] == [fraction(named, "some"), fraction(named, "?")]


LEVELS = (("none", 0), ("some", 0.3))


@pytest.mark.parametrize(
    "weights",
    [(28.6, 28.6, 28.6, 14.2), (35.7, 28.6, 35.7), (33.3, 33.3, 33.4), (0.1,) * 10, (33.3335,) * 3],
)
def test_a_perfect_attempt_has_exactly_the_highest_score(weights):
    """Weights whose binary sum is 100.00000000000001 cannot leave the range."""
    whole = benchmark(criteria=tuple(criterion(w) for w in weights))
    assert Decimal(100) == score(whole, facts(value=10)).score


def test_the_range_may_be_any():
    """A score lies between low and high, also below zero."""
    ranged = benchmark(score_range=ScoreRange(low=-1, high=1))
    assert [Decimal(-1), Decimal(0), Decimal(1)] == [
        score(ranged, facts(value=v)).score for v in (0, 5, 10)
    ]


def test_a_forced_failure_comes_before_everything():
    """It has the lowest score, the lowest tie-break and its reason."""
    found = score(benchmark(), facts(), "no evidence")
    assert (
        found.outcome,
        found.score,
        found.tie_break,
        found.reason,
    ) == ("failed", 0, FAILED_TIE, "no evidence")


@pytest.mark.parametrize("bad", [True, None, 0, "no"])
def test_a_measured_condition_fails_unless_it_is_exactly_false(bad):
    """Silence is no pass."""
    found = score(benchmark(), facts(bad=bad))
    assert (found.outcome, found.failures, found.fraud) == ("failed", ("bad",), ())


@pytest.mark.parametrize("honest", [False, None, 1, "yes"])
def test_a_fraud_check_passes_only_if_it_is_exactly_true(honest):
    """Anything else is fraud."""
    found = score(benchmark(), facts(honest=honest))
    assert (found.outcome, found.failures, found.fraud) == ("failed", (), ("honest",))


def test_judged_conditions_come_from_the_extracted_facts():
    """Triggered and passed are sets of ids."""
    judged = benchmark(
        failures=(FailureRule(id="f", condition="x", source=Judged()),),
        anti_fraud=(AntiFraud(id="a", check="x", source=Judged()),),
    )
    passed = Facts(measured={"measure": GOOD}, passed=frozenset({"a"}))
    triggered = Facts(triggered=frozenset({"f"}))
    assert score(judged, passed).outcome == "success"
    assert (score(judged, triggered).failures, score(judged, triggered).fraud) == (("f",), ("a",))


def test_a_judged_criterion_takes_the_value_or_the_level_of_its_fact():
    """Without a fact it earns nothing."""
    levels = Levels(levels=tuple(Level(id=i, description=i, fraction=f) for i, f in LEVELS))
    rules = (
        criterion(50, "n", source=Judged()),
        criterion(30, "l", source=Judged(), measurement=levels),
        criterion(20, "?", source=Judged()),
    )
    known = Facts(
        measured={"measure": GOOD},
        judged={
            "n": CriterionFact(criterion_id="n", value=10, evidence_refs=("candidate",)),
            "l": CriterionFact(criterion_id="l", level_id="some"),
        },
    )
    found = score(benchmark(criteria=rules), known)
    assert Decimal(59) == found.score
    assert [c.refs for c in found.criteria] == [("candidate",), (), ()]


def tie(**changes: object) -> TieBreak:
    fields: dict[str, object] = {
        "id": "t",
        "description": "x",
        "direction": "higher",
        "minimum": 0,
        "maximum": 10,
        "weight": 2,
        "source": Judged(),
    }
    return TieBreak(**fields | changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [
        (tie(), 5, 1),
        (tie(), 50, 2),
        (tie(), -1, 0),
        (tie(direction="lower"), 2, "1.6"),
        (tie(), True, 0),
    ],
)
def test_a_tie_break_is_its_weight_times_its_share(rule, value, expected):
    """Clamped like a criterion; lower is the rest."""
    known = Facts(measured={"measure": GOOD}, tie_breaks={"t": value})
    assert Decimal(expected) == score(benchmark(tie_breaks=(rule,)), known).tie_break


def test_a_judged_tie_break_without_a_fact_adds_nothing():
    """Nothing is invented."""
    assert Decimal(0) == score(benchmark(tie_breaks=(tie(),)), facts()).tie_break


def test_kernel_facts_can_be_a_criterion():
    """The kernel's own numbers are measured like any."""
    rule = criterion(
        100,
        source=Kernel(fact="wall_seconds"),
        measurement=NumericLinear(direction="lower", minimum=100, target=0),
    )
    found = score(benchmark(criteria=(rule,)), facts())
    assert (Decimal(75), ()) == (found.score, found.criteria[0].refs)


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [
        ("", {"a/b": [7, {"m~n": 8}]}),
        ("/a~1b/0", 7),
        ("/a~1b/1/m~0n", 8),
        ("/a~1b/2", None),
        ("/a~1b/-1", None),
        ("/a~1b/\N{SUPERSCRIPT TWO}", None),
        ("/nothing", None),
        ("/a~1b/0/deeper", None),
    ],
)
def test_a_pointer_finds_a_value_or_nothing(pointer, expected):
    """RFC 6901; a digit of another script is no index."""
    assert expected == pointed({"a/b": [7, {"m~n": 8}]}, pointer)
