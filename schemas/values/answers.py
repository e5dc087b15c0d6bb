"""What each specialist must answer: the JSON Schema name is the key of `ANSWERS`.

The same classes produce the schema that is sent, and check the answer that came back.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Value
from schemas.values.benchmark import Benchmark, Number
from schemas.values.mutation import Mutation

Text = Annotated[str, Field(max_length=4000)]


class Variants(Value):
    """Birther, generation one: exactly as many prompt variations as were asked for."""

    variations: tuple[Text, ...]


class EvidenceNote(Value):
    evidence_ref: str
    note: Text


class ChunkReview(Value):
    """Grader, one chunk: every fragment acknowledged exactly once."""

    reviewed_fragment_ids: tuple[str, ...]
    notes: tuple[EvidenceNote, ...]
    contradictions: tuple[Text, ...] = ()
    fraud_signals: tuple[Text, ...] = ()


class NotesSummary(Value):
    """Grader, reduction: every review acknowledged exactly once."""

    reviewed_summary_ids: tuple[str, ...]
    notes: tuple[EvidenceNote, ...]
    contradictions: tuple[Text, ...] = ()
    fraud_signals: tuple[Text, ...] = ()


class CriterionFact(Value):
    """One judged criterion. `value` for binary and numeric_linear, `level_id` for levels."""

    criterion_id: str
    value: bool | Number | None = None
    level_id: str | None = None
    evidence_refs: tuple[str, ...] = ()


class TieBreakFact(Value):
    tie_break_id: str
    value: Number
    evidence_refs: tuple[str, ...]


class FailureFact(Value):
    failure_id: str
    triggered: bool
    evidence_refs: tuple[str, ...] = ()


class FraudFact(Value):
    check_id: str
    passed: bool
    evidence_refs: tuple[str, ...]


class ActivitySummary(Value):
    investigated: tuple[Text, ...] = ()
    actions: tuple[Text, ...] = ()
    outcomes: tuple[Text, ...] = ()


class Facts(Value):
    """Grader, final: every judged item exactly once; nothing here is a score."""

    reason: Text
    criteria: tuple[CriterionFact, ...] = ()
    tie_breaks: tuple[TieBreakFact, ...] = ()
    failures: tuple[FailureFact, ...] = ()
    anti_fraud: tuple[FraudFact, ...] = ()
    activity: ActivitySummary = ActivitySummary()


class Finding(Value):
    agent: str
    finding: Text


class DossierNotes(Value):
    """Tweaker, one batch of dossier fragments."""

    covered_fragment_ids: tuple[str, ...]
    findings: tuple[Finding, ...]
    successful: tuple[Text, ...] = ()
    failed: tuple[Text, ...] = ()


class ParentBrief(Value):
    """How many children an elite gets and what they should try."""

    agent: str
    children: int = Field(ge=1)
    brief: Text


class Briefs(Value):
    """Tweaker, final: the children of all parents add up to the births of this epoch."""

    elite_characteristics: tuple[Text, ...]
    successful_patterns: tuple[Text, ...] = ()
    failed_patterns: tuple[Text, ...] = ()
    parents: tuple[ParentBrief, ...]


ANSWERS: dict[str, type[Value]] = {
    "architect_benchmark": Benchmark,
    "birther_variants": Variants,
    "birther_mutation": Mutation,
    "grader_chunk": ChunkReview,
    "grader_notes": NotesSummary,
    "grader_facts": Facts,
    "tweaker_dossier": DossierNotes,
    "tweaker_briefs": Briefs,
}
