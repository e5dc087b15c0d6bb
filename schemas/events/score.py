"""The kernel's own result for one attempt. Owner: grader. Id: the attempt."""

from decimal import Decimal

from schemas.base import Event, Value
from schemas.refs import BlobRef, Sha256
from schemas.values.population import Outcome


class CriterionScore(Value):
    """`fraction` in [0, 1]; `points` = weight x fraction / sum of weights x 100."""

    id: str
    fraction: Decimal
    points: Decimal
    refs: tuple[str, ...] = ()


class ScoreComputed(Event):
    type = "score.computed"
    attempt: str
    agent: str
    genome: Sha256
    outcome: Outcome
    score: Decimal
    tie_break: Decimal
    criteria: tuple[CriterionScore, ...]
    failures: tuple[str, ...] = ()
    fraud: tuple[str, ...] = ()
    reason: str = ""
    formula_version: str
    facts: BlobRef | None = None
