"""The contract of reviews and of extracted facts."""

import pytest

from schemas.values.answers import (
    ChunkReview,
    CriterionFact,
    EvidenceNote,
    Facts,
    FailureFact,
    FraudFact,
    TieBreakFact,
)
from schemas.values.benchmark import (
    AntiFraud,
    Binary,
    Criterion,
    FailureRule,
    Judged,
    Level,
    Levels,
    NumericLinear,
    TieBreak,
)
from services.grader.core.facts import evidence_class, facts_violations, review_violations
from tests.support.given import benchmark

LEVELS = Levels(
    levels=(
        Level(id="none", description="x", fraction=0),
        Level(id="full", description="x", fraction=1),
    )
)
LINEAR = NumericLinear(direction="higher", minimum=0, target=10)
REFS = {"candidate", "result", "activity", "external:measure", "file:a.txt"}


def rule(name: str, measurement: object, minimum: str = "self") -> Criterion:
    return Criterion(
        id=name,
        description=name,
        weight=1,
        measurement=measurement,  # type: ignore[arg-type]
        source=Judged(minimum_evidence=minimum),  # type: ignore[arg-type]
    )


JUDGED = benchmark(
    criteria=(rule("yes", Binary()), rule("much", LINEAR), rule("which", LEVELS)),
    tie_breaks=(
        TieBreak(
            id="tie",
            description="x",
            direction="higher",
            minimum=0,
            maximum=1,
            weight=1,
            source=Judged(),
        ),
    ),
    failures=(FailureRule(id="fail", condition="x", source=Judged()),),
    anti_fraud=(AntiFraud(id="fraud", check="x", source=Judged()),),
)
GOOD = Facts(
    reason="fine",
    criteria=(
        CriterionFact(criterion_id="yes", value=True, evidence_refs=("candidate",)),
        CriterionFact(criterion_id="much", value=0),
        CriterionFact(criterion_id="which", level_id="none"),
    ),
    tie_breaks=(TieBreakFact(tie_break_id="tie", value=1, evidence_refs=("candidate",)),),
    failures=(FailureFact(failure_id="fail", triggered=False),),
    anti_fraud=(FraudFact(check_id="fraud", passed=True, evidence_refs=("candidate",)),),
)


def broken(facts: Facts, contract=JUDGED) -> list[tuple[str, str]]:
    return [(v.path, v.message) for v in facts_violations(facts, contract, REFS)]


def with_criterion(n: int, **changes: object) -> Facts:
    criteria = list(GOOD.criteria)
    criteria[n] = criteria[n].model_copy(update=changes)
    return GOOD.model_copy(update={"criteria": tuple(criteria)})


def test_complete_facts_break_nothing():
    """A fact that earns nothing needs no evidence."""
    assert broken(GOOD) == []


def test_every_judged_item_is_wanted():
    """Criteria, tie-breaks, failures and fraud checks alike."""
    assert broken(Facts(reason="nothing")) == [
        ("criteria", "yes is missing"),
        ("criteria", "much is missing"),
        ("criteria", "which is missing"),
        ("tie_breaks", "tie is missing"),
        ("failures", "fail is missing"),
        ("anti_fraud", "fraud is missing"),
    ]


def test_measured_items_are_none_of_the_models_business():
    """A fact about a measured criterion was not asked for."""
    facts = Facts(reason="x", criteria=(CriterionFact(criterion_id="value", value=9.0),))
    found = broken(facts, benchmark())
    assert ("criteria", "value was not asked for") in found


def test_an_item_stands_once():
    """A repeat is named once, an unknown one has no further checks."""
    twice = (*GOOD.failures, *GOOD.failures)
    assert broken(GOOD.model_copy(update={"failures": twice})) == [
        ("failures", "fail stands more than once")
    ]
    more = (*GOOD.criteria, CriterionFact(criterion_id="what", value=1))
    assert broken(GOOD.model_copy(update={"criteria": more})) == [
        ("criteria", "what was not asked for")
    ]


@pytest.mark.parametrize(
    ("n", "change", "path", "message"),
    [
        (0, {"value": 1}, "criteria.0.value", "must be true or false"),
        (1, {"value": True}, "criteria.1.value", "must be a finite number"),
        (1, {"value": float("nan")}, "criteria.1.value", "must be a finite number"),
        (2, {"level_id": "half"}, "criteria.2.level_id", "half is no level of which"),
        (1, {"value": 5}, "criteria.1.evidence_refs", "needs at least one reference"),
        (0, {"evidence_refs": ("file:b",)}, "criteria.0.evidence_refs", "file:b is unknown"),
    ],
)
def test_a_criterion_has_its_type_and_its_evidence(n, change, path, message):
    """What earns cites something that exists."""
    assert (path, message) in broken(with_criterion(n, **change))


def test_ties_triggered_failures_and_fraud_checks_cite_evidence():
    """A failure that is not triggered needs none."""
    bare = GOOD.model_copy(
        update={
            "tie_breaks": (TieBreakFact(tie_break_id="tie", value=1, evidence_refs=()),),
            "failures": (FailureFact(failure_id="fail", triggered=True),),
            "anti_fraud": (FraudFact(check_id="fraud", passed=True, evidence_refs=("no",)),),
        }
    )
    assert broken(bare) == [
        ("tie_breaks.0.evidence_refs", "needs at least one reference"),
        ("failures.0.evidence_refs", "needs at least one reference"),
        ("anti_fraud.0.evidence_refs", "no is unknown"),
    ]


@pytest.mark.parametrize(
    ("minimum", "refs", "enough"),
    [
        ("self", ("result",), True),
        ("agent", ("result", "activity"), False),
        ("agent", ("result", "file:a.txt"), True),
        ("kernel", ("candidate",), False),
        ("kernel", ("external:measure",), True),
    ],
)
def test_self_report_earns_nothing_where_more_is_asked_for(minimum, refs, enough):
    """The strongest reference decides."""
    contract = JUDGED.model_copy(update={"criteria": (rule("yes", Binary(), minimum),)})
    facts = with_criterion(0, evidence_refs=refs)
    facts = facts.model_copy(update={"criteria": facts.criteria[:1]})
    expected = [] if enough else [("criteria.0.evidence_refs", f"needs {minimum} evidence")]
    assert expected == broken(facts, contract)


@pytest.mark.parametrize(
    ("ref", "expected"),
    [("external:x", "kernel"), ("result", "self"), ("activity", "self"), ("file:a", "agent")],
)
def test_a_reference_has_a_class(ref, expected):
    """The organism's word, its work, or a measurement."""
    assert expected == evidence_class(ref)


def test_a_review_acknowledges_every_fragment_exactly_once():
    """Missing, unknown and repeated ids are all named."""
    review = ChunkReview(
        reviewed_fragment_ids=("a", "a", "x"),
        notes=(
            EvidenceNote(evidence_ref="candidate", note="n"),
            EvidenceNote(evidence_ref="?", note="n"),
        ),
    )
    found = review_violations(review, ["a", "b"], REFS)
    assert [v.message for v in found] == [
        "b is missing",
        "x was not asked for",
        "a stands more than once",
        "? is unknown",
    ]


def test_a_complete_review_breaks_nothing():
    """Notes are optional."""
    assert review_violations(ChunkReview(reviewed_fragment_ids=("a",), notes=()), ["a"], REFS) == []
