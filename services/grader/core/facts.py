"""The contract of extracted facts: every judged item once, every reference resolvable."""

from collections.abc import Collection, Iterable, Sequence

from schemas.events.benchmark import Violation
from schemas.values.answers import ChunkReview, CriterionFact, Facts
from schemas.values.benchmark import (
    Benchmark,
    Binary,
    Criterion,
    Judged,
    Levels,
    NumericLinear,
)
from services.grader.core.scoring import fraction, number


def review_violations(
    review: ChunkReview, supplied: Sequence[str], refs: Collection[str]
) -> list[Violation]:
    """Every supplied fragment acknowledged exactly once; notes cite what was supplied."""
    found = _exactly_once("reviewed_fragment_ids", review.reviewed_fragment_ids, supplied)
    for index, note in enumerate(review.notes):
        if note.evidence_ref not in refs:
            found.append(_broken(f"notes.{index}.evidence_ref", f"{note.evidence_ref} is unknown"))
    return found


def facts_violations(facts: Facts, benchmark: Benchmark, refs: Collection[str]) -> list[Violation]:
    """Every broken rule at once."""
    judged = _judged(benchmark)
    found = _exactly_once("criteria", [f.criterion_id for f in facts.criteria], judged["criteria"])
    found += _exactly_once(
        "tie_breaks", [f.tie_break_id for f in facts.tie_breaks], judged["tie_breaks"]
    )
    found += _exactly_once("failures", [f.failure_id for f in facts.failures], judged["failures"])
    checks = [f.check_id for f in facts.anti_fraud]
    found += _exactly_once("anti_fraud", checks, judged["anti_fraud"])
    criteria = {c.id: c for c in benchmark.criteria}
    for index, fact in enumerate(facts.criteria):
        if fact.criterion_id in criteria:
            found += _criterion(f"criteria.{index}", fact, criteria[fact.criterion_id], refs)
    for path, cited, needed in _citations(facts):
        found += _refs(path, cited, needed, refs)
    return found


def _judged(benchmark: Benchmark) -> dict[str, list[str]]:
    groups = ("criteria", "tie_breaks", "failures", "anti_fraud")
    return {
        name: [rule.id for rule in getattr(benchmark, name) if isinstance(rule.source, Judged)]
        for name in groups
    }


def _criterion(
    path: str, fact: CriterionFact, criterion: Criterion, refs: Collection[str]
) -> list[Violation]:
    found = _typed(path, fact, criterion)
    value = fact.level_id if isinstance(criterion.measurement, Levels) else fact.value
    earns = not found and fraction(criterion, value) > 0
    found += _refs(path, fact.evidence_refs, earns, refs)
    return found + _class(path, fact, criterion, earns)


def _typed(path: str, fact: CriterionFact, criterion: Criterion) -> list[Violation]:
    match criterion.measurement:
        case Binary() if not isinstance(fact.value, bool):
            return [_broken(f"{path}.value", "must be true or false")]
        case NumericLinear() if number(fact.value) is None:
            return [_broken(f"{path}.value", "must be a finite number")]
        case Levels() as levels if fact.level_id not in {lv.id for lv in levels.levels}:
            return [_broken(f"{path}.level_id", f"{fact.level_id} is no level of {criterion.id}")]
    return []


def _class(path: str, fact: CriterionFact, criterion: Criterion, earns: bool) -> list[Violation]:
    """Self-report alone earns nothing where the benchmark asks for more."""
    source = criterion.source
    if not earns or not isinstance(source, Judged) or source.minimum_evidence == "self":
        return []
    strong = [ref for ref in fact.evidence_refs if evidence_class(ref) != "self"]
    if source.minimum_evidence == "kernel":
        strong = [ref for ref in strong if evidence_class(ref) == "kernel"]
    if strong:
        return []
    return [_broken(f"{path}.evidence_refs", f"needs {source.minimum_evidence} evidence")]


def evidence_class(ref: str) -> str:
    """`result` is the organism's own word, files and candidate its work, `external` measured."""
    if ref.startswith("external:"):
        return "kernel"
    return "self" if ref.startswith(("result", "activity")) else "agent"


def _citations(facts: Facts) -> Iterable[tuple[str, Sequence[str], bool]]:
    for index, tie in enumerate(facts.tie_breaks):
        yield f"tie_breaks.{index}", tie.evidence_refs, True
    for index, failure in enumerate(facts.failures):
        yield f"failures.{index}", failure.evidence_refs, failure.triggered
    for index, fraud in enumerate(facts.anti_fraud):
        yield f"anti_fraud.{index}", fraud.evidence_refs, True


def _refs(path: str, cited: Sequence[str], needed: bool, valid: Collection[str]) -> list[Violation]:
    unknown = [ref for ref in cited if ref not in valid]
    found = [_broken(f"{path}.evidence_refs", f"{ref} is unknown") for ref in unknown]
    if needed and not cited:
        found.append(_broken(f"{path}.evidence_refs", "needs at least one reference"))
    return found


def _exactly_once(path: str, given: Sequence[str], wanted: Sequence[str]) -> list[Violation]:
    found = [_broken(path, f"{x} is missing") for x in wanted if x not in given]
    found += [_broken(path, f"{x} was not asked for") for x in given if x not in wanted]
    repeated = sorted({x for x in given if given.count(x) > 1})
    return found + [_broken(path, f"{x} stands more than once") for x in repeated]


def _broken(path: str, message: str) -> Violation:
    return Violation(path=path[:200], message=message[:500])
