"""The locked formulas: decimal, in rubric order, divided by the sum of weights, clamped.

Nothing here asks a model. `Facts` hold what was measured, what the kernel knows, what the
Grader model extracted; the same facts give the same score for ever.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal

from schemas.events.score import CriterionScore
from schemas.values.answers import CriterionFact
from schemas.values.benchmark import (
    Benchmark,
    Binary,
    Criterion,
    Judged,
    Kernel,
    Levels,
    Measured,
    Number,
    NumericLinear,
    Source,
    TieBreak,
    exact,
)
from schemas.values.population import Outcome

FORMULA_VERSION = "1"
PLACES = Decimal("0.000001")
FAILED_TIE = Decimal(-1)
ZERO, ONE = Decimal(0), Decimal(1)

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True)
class Facts:
    """Everything a score may depend on. `measured`: provider id -> its JSON answer."""

    measured: Mapping[str, Json] = field(default_factory=dict)
    kernel: Mapping[str, int | float] = field(default_factory=dict)
    judged: Mapping[str, CriterionFact] = field(default_factory=dict)
    tie_breaks: Mapping[str, Number] = field(default_factory=dict)
    triggered: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Result:
    """`score` within the benchmark's range, 6 places; a failure has the lowest score."""

    outcome: Outcome
    score: Decimal
    tie_break: Decimal
    criteria: tuple[CriterionScore, ...] = ()
    failures: tuple[str, ...] = ()
    fraud: tuple[str, ...] = ()
    reason: str = ""


def score(benchmark: Benchmark, facts: Facts, forced_failure: str | None = None) -> Result:
    """Forced failure, then triggered conditions, then fraud, then the rubric."""
    if forced_failure is not None:
        return failed(benchmark, reason=forced_failure)
    triggered = tuple(f.id for f in benchmark.failures if _triggered(f.id, f.source, facts))
    fraud = tuple(a.id for a in benchmark.anti_fraud if not _passed(a.id, a.source, facts))
    if triggered or fraud:
        return failed(benchmark, triggered, fraud)
    criteria = tuple(_criterion(benchmark, c, facts) for c in benchmark.criteria)
    return Result("success", _total(benchmark, facts), _tie_break(benchmark, facts), criteria)


def failed(
    benchmark: Benchmark,
    failures: tuple[str, ...] = (),
    fraud: tuple[str, ...] = (),
    reason: str = "",
) -> Result:
    low = exact(benchmark.score_range.low).quantize(PLACES)
    return Result("failed", low, FAILED_TIE, (), failures, fraud, reason)


def pointed(document: Json, pointer: str) -> Json:
    """The value at an RFC 6901 pointer, or None when there is nothing."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict):
            document = document.get(key)
        elif isinstance(document, list) and _is_index(key) and int(key) < len(document):
            document = document[int(key)]
        else:
            return None
    return document


def _is_index(key: str) -> bool:
    return key.isascii() and key.isdecimal() and len(key) < 10


def number(value: object) -> Decimal | None:
    """A finite number; booleans, strings, NaN and infinities are none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return None
    decimal = Decimal(str(value))
    return decimal if decimal.is_finite() else None


def fraction(criterion: Criterion, value: object) -> Decimal:
    """How much of its weight a criterion earns for a value, in [0, 1]."""
    match criterion.measurement:
        case Binary():
            return ONE if value is True else ZERO
        case NumericLinear() as linear:
            found = number(value)
            return ZERO if found is None else _linear(linear, found)
        case Levels() as levels:
            found_level = [lv.fraction for lv in levels.levels if lv.id == value]
            return exact(found_level[0]) if found_level else ZERO


def _linear(linear: NumericLinear, value: Decimal) -> Decimal:
    low, high = exact(linear.minimum), exact(linear.target)
    return _clamped((value - low) / (high - low))


def _clamped(value: Decimal) -> Decimal:
    return max(ZERO, min(ONE, value))


def _criterion(benchmark: Benchmark, criterion: Criterion, facts: Facts) -> CriterionScore:
    weights = sum((exact(c.weight) for c in benchmark.criteria), ZERO)
    earned = fraction(criterion, _value(criterion, facts))
    points = exact(criterion.weight) * earned * 100 / weights
    return CriterionScore(
        id=criterion.id,
        fraction=_rounded(earned),
        points=_rounded(points),
        refs=_refs(criterion, facts),
    )


def _total(benchmark: Benchmark, facts: Facts) -> Decimal:
    """Rounded once, at the end: three thirds are a whole."""
    low, high = exact(benchmark.score_range.low), exact(benchmark.score_range.high)
    weights = sum((exact(c.weight) for c in benchmark.criteria), ZERO)
    earned = sum(
        (exact(c.weight) * fraction(c, _value(c, facts)) for c in benchmark.criteria), ZERO
    )
    earned /= weights
    return _rounded(max(low, min(high, low + (high - low) * earned)))


def _tie_break(benchmark: Benchmark, facts: Facts) -> Decimal:
    return _rounded(sum((_tie(rule, facts) for rule in benchmark.tie_breaks), ZERO))


def _tie(rule: TieBreak, facts: Facts) -> Decimal:
    judged = facts.tie_breaks.get(rule.id)
    value = number(_sourced(rule.source, facts) if judged is None else judged)
    if value is None:
        return ZERO
    low, high = exact(rule.minimum), exact(rule.maximum)
    share = _clamped((value - low) / (high - low))
    return exact(rule.weight) * (ONE - share if rule.direction == "lower" else share)


def _value(criterion: Criterion, facts: Facts) -> object:
    if not isinstance(criterion.source, Judged):
        return _sourced(criterion.source, facts)
    fact = facts.judged.get(criterion.id)
    if fact is None:
        return None
    return fact.level_id if isinstance(criterion.measurement, Levels) else fact.value


def _refs(criterion: Criterion, facts: Facts) -> tuple[str, ...]:
    if isinstance(criterion.source, Measured):
        return (f"external:{criterion.source.provider}",)
    fact = facts.judged.get(criterion.id)
    return fact.evidence_refs if fact else ()


def _sourced(source: Source, facts: Facts) -> object:
    match source:
        case Measured():
            return pointed(facts.measured.get(source.provider), source.pointer)
        case Kernel():
            return facts.kernel.get(source.fact)
        case Judged():
            return None


def _triggered(rule: str, source: Source, facts: Facts) -> bool:
    """A measured condition fails unless it is exactly false: silence is no pass."""
    if isinstance(source, Judged):
        return rule in facts.triggered
    return _sourced(source, facts) is not False


def _passed(check: str, source: Source, facts: Facts) -> bool:
    if isinstance(source, Judged):
        return check in facts.passed
    return _sourced(source, facts) is True


def _rounded(value: Decimal) -> Decimal:
    return value.quantize(PLACES, ROUND_HALF_UP)
