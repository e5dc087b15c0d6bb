"""What a valid benchmark is. Every violation is reported at once, with its path.

Shape and types are `schemas.values.benchmark`; here are the rules that a schema cannot say.
"""

import fnmatch
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from schemas.events.benchmark import Violation
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

WEIGHT_TOTAL = Decimal(100)
WEIGHT_TOLERANCE = Decimal("0.001")
SCORE_DECIMALS = 6
LARGEST = Decimal(10) ** 15  # beyond it a score would no longer be exact to six places
PLAIN_OUTPUTS = ("candidate", "activity", "artifacts")


class Inventory(NamedTuple):
    """What this installation can do; a benchmark may use nothing else."""

    tools: frozenset[str] = frozenset()
    connectors: frozenset[str] = frozenset()


def violations(benchmark: Benchmark, inventory: Inventory) -> list[Violation]:
    """Every broken rule, in document order; an empty list means valid."""
    found: list[Violation] = []
    for rule in (_texts, _range, _criteria, _tie_breaks, _conditions, _outputs, _programs):
        found += rule(benchmark)
    return found + _inventory(benchmark, inventory)


def _texts(benchmark: Benchmark) -> list[Violation]:
    found = []
    for name in ("objective", "metric", "attribution", "baseline"):
        if not getattr(benchmark, name).strip():
            found.append(_broken(name, "must not be blank"))
    for name in ("grader", "tweaker", "birther"):
        if not getattr(benchmark.instructions, name).strip():
            found.append(_broken(f"instructions.{name}", "must not be blank"))
    for name in ("criteria", "tie_breaks", "failures", "anti_fraud", "required_outputs"):
        if not getattr(benchmark, name):
            found.append(_broken(name, "must have at least one entry"))
    for name in ("evidence_requirements", "grader_rules"):
        if not [text for text in getattr(benchmark, name) if text.strip()]:
            found.append(_broken(name, "must have at least one entry that is not blank"))
    return found


def _range(benchmark: Benchmark) -> list[Violation]:
    low, high = benchmark.score_range.low, benchmark.score_range.high
    if not _finite(low) or not _finite(high):
        return [_broken("score_range", "low and high must be finite")]
    if exact(low) >= exact(high):
        return [_broken("score_range", f"low ({low}) must be below high ({high})")]
    if any(exact(bound) != round(exact(bound), SCORE_DECIMALS) for bound in (low, high)):
        return [_broken("score_range", f"at most {SCORE_DECIMALS} decimals")]
    return []


def _criteria(benchmark: Benchmark) -> list[Violation]:
    found = _ids("criteria", [c.id for c in benchmark.criteria])
    for index, criterion in enumerate(benchmark.criteria):
        path = f"criteria.{index}"
        if not criterion.description.strip():
            found.append(_broken(f"{path}.description", "must not be blank"))
        found += _weight(f"{path}.weight", criterion.weight)
        found += _measurement(f"{path}.measurement", criterion)
        found += _source(f"{path}.source", criterion.source, benchmark)
        if isinstance(criterion.source, Kernel) and not isinstance(
            criterion.measurement, NumericLinear
        ):
            found.append(_broken(f"{path}.measurement", "a kernel fact is a number"))
    return found + _total(benchmark)


def _total(benchmark: Benchmark) -> list[Violation]:
    """The message states the total: small models cannot add, but they can correct."""
    weights = [c.weight for c in benchmark.criteria]
    if not weights or not all(_finite(weight) for weight in weights):
        return []
    total = sum((exact(weight) for weight in weights), Decimal(0))
    if abs(total - WEIGHT_TOTAL) <= WEIGHT_TOLERANCE:
        return []
    listed = " + ".join(str(exact(weight)) for weight in weights)
    return [_broken("criteria", f"weights must total 100, but {listed} = {total}")]


def _measurement(path: str, criterion: Criterion) -> list[Violation]:
    match criterion.measurement:
        case NumericLinear() as linear:
            return _linear(path, linear)
        case Levels() as levels:
            return _levels(path, levels)
        case Binary():
            return []


def _linear(path: str, linear: NumericLinear) -> list[Violation]:
    if not _finite(linear.minimum) or not _finite(linear.target):
        return [_broken(path, "minimum and target must be finite")]
    low, high = exact(linear.minimum), exact(linear.target)
    if low == high:
        return [_broken(path, "minimum and target must differ")]
    if (low < high) != (linear.direction == "higher"):
        return [_broken(path, f"direction {linear.direction} contradicts {low} -> {high}")]
    return []


def _levels(path: str, levels: Levels) -> list[Violation]:
    found = _ids(f"{path}.levels", [level.id for level in levels.levels])
    fractions = []
    for index, level in enumerate(levels.levels):
        if not level.description.strip():
            found.append(_broken(f"{path}.levels.{index}.description", "must not be blank"))
        if not _finite(level.fraction) or not 0 <= exact(level.fraction) <= 1:
            found.append(_broken(f"{path}.levels.{index}.fraction", "must be within 0 and 1"))
            continue
        fractions.append(exact(level.fraction))
    if len(set(fractions)) < 2:
        found.append(_broken(f"{path}.levels", "need at least two different fractions"))
    if fractions and Decimal(0) not in fractions:
        found.append(_broken(f"{path}.levels", "one level must have fraction 0"))
    return found


def _tie_breaks(benchmark: Benchmark) -> list[Violation]:
    found = _ids("tie_breaks", [t.id for t in benchmark.tie_breaks])
    for index, rule in enumerate(benchmark.tie_breaks):
        path = f"tie_breaks.{index}"
        found += _weight(f"{path}.weight", rule.weight) + _bounds(path, rule)
        found += _source(f"{path}.source", rule.source, benchmark)
    return found


def _bounds(path: str, rule: TieBreak) -> list[Violation]:
    if not _finite(rule.minimum) or not _finite(rule.maximum):
        return [_broken(path, "minimum and maximum must be finite")]
    if exact(rule.minimum) >= exact(rule.maximum):
        return [_broken(path, "minimum must be below maximum")]
    return []


def _conditions(benchmark: Benchmark) -> list[Violation]:
    found = _ids("failures", [f.id for f in benchmark.failures])
    found += _ids("anti_fraud", [a.id for a in benchmark.anti_fraud])
    for index, rule in enumerate(benchmark.failures):
        if not rule.condition.strip():
            found.append(_broken(f"failures.{index}.condition", "must not be blank"))
        found += _truth(f"failures.{index}.source", rule.source, benchmark)
    for index, check in enumerate(benchmark.anti_fraud):
        if not check.check.strip():
            found.append(_broken(f"anti_fraud.{index}.check", "must not be blank"))
        found += _truth(f"anti_fraud.{index}.source", check.source, benchmark)
    return found


def _truth(path: str, source: Source, benchmark: Benchmark) -> list[Violation]:
    """A condition is true or false; the kernel's facts are numbers, so each would fail for ever."""
    if isinstance(source, Kernel):
        return [_broken(path, f"{source.fact} is a number, not true or false")]
    return _source(path, source, benchmark)


def _outputs(benchmark: Benchmark) -> list[Violation]:
    found = []
    for index, output in enumerate(benchmark.required_outputs):
        path = f"required_outputs.{index}"
        if not output.description.strip():
            found.append(_broken(f"{path}.description", "must not be blank"))
        if not _output_known(output.evidence_ref, benchmark):
            found.append(
                _broken(
                    f"{path}.evidence_ref",
                    "must be candidate, activity, artifacts, file:<glob> or external:<provider>",
                )
            )
    return found


def _output_known(ref: str, benchmark: Benchmark) -> bool:
    kind, _, tail = ref.partition(":")
    if kind == "file":
        return bool(tail.strip()) and fnmatch.translate(tail) != ""
    if kind == "external":
        return tail in _providers(benchmark)
    return ref in PLAIN_OUTPUTS


def _programs(benchmark: Benchmark) -> list[Violation]:
    found = _ids("programs", [p.id for p in benchmark.programs])
    for index, program in enumerate(benchmark.programs):
        path = f"programs.{index}"
        if not program.argv:
            found.append(_broken(f"{path}.argv", "must name a command"))
        if not program.files and program.tree is None:
            found.append(_broken(path, "must have files"))
        if program.timeout_seconds < 1:
            found.append(_broken(f"{path}.timeout_seconds", "must be at least 1"))
        for number, file in enumerate(program.files):
            if not safe_path(file.path):
                found.append(_broken(f"{path}.files.{number}.path", "must be relative and plain"))
    return found


def safe_path(path: str) -> bool:
    """A relative POSIX path without empty, `.` or `..` parts, NUL or backslash."""
    parts = path.split("/")
    return bool(path) and not any(p in ("", ".", "..") or "\0" in p or "\\" in p for p in parts)


def _inventory(benchmark: Benchmark, inventory: Inventory) -> list[Violation]:
    found = []
    for index, tool in enumerate(benchmark.tools):
        if tool not in inventory.tools:
            found.append(_broken(f"tools.{index}", f"{tool} is not available here"))
    for index, connector in enumerate(benchmark.connectors):
        if connector not in inventory.connectors:
            found.append(_broken(f"connectors.{index}", f"{connector} is not configured here"))
    return found


def _source(path: str, source: Source, benchmark: Benchmark) -> list[Violation]:
    match source:
        case Measured():
            return _measured(path, source, benchmark)
        case Kernel() | Judged():
            return []


def _measured(path: str, source: Measured, benchmark: Benchmark) -> list[Violation]:
    found = []
    if source.provider not in _providers(benchmark):
        found.append(_broken(f"{path}.provider", f"{source.provider} is no program or connector"))
    if source.pointer and not source.pointer.startswith("/"):
        found.append(_broken(f"{path}.pointer", "must be a JSON pointer such as /value"))
    return found


def _providers(benchmark: Benchmark) -> set[str]:
    return {program.id for program in benchmark.programs} | set(benchmark.connectors)


def _weight(path: str, weight: Number) -> list[Violation]:
    if not _finite(weight) or exact(weight) <= 0:
        return [_broken(path, "must be a finite number above 0")]
    return []


def _ids(path: str, found: Sequence[str]) -> list[Violation]:
    blank = [i for i, x in enumerate(found) if not x.strip()]
    broken = [_broken(f"{path}.{i}.id", "must not be blank") for i in blank]
    repeated = sorted({x for x in found if found.count(x) > 1})
    return [*broken, *(_broken(path, f"id {x!r} stands more than once") for x in repeated)]


def _finite(number: Number) -> bool:
    """A number that the formulas can take."""
    found = exact(number)
    return found.is_finite() and abs(found) <= LARGEST


def _broken(path: str, message: str) -> Violation:
    return Violation(path=path, message=message)
