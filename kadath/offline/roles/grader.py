"""Grader: retrieval, not judgement. Facts are found by words in common, or not at all."""

import re

from kadath.offline.request import Json
from schemas.values.answers import (
    ChunkReview,
    CriterionFact,
    EvidenceNote,
    Facts,
    FailureFact,
    FraudFact,
    NotesSummary,
    TieBreakFact,
)

INJECTION = re.compile(
    r"(ignore|disregard|forget)\s+(all\s+|any\s+)?(previous|prior|above)\s+instructions"
    r"|(give|award|assign)\s+(me\s+|this\s+)?(a\s+|the\s+)?(full|maximum|highest)\s+(score|marks)",
    re.IGNORECASE,
)
NOTE_CHARS = 400


def chunk(question: Json) -> ChunkReview:
    """One note a fragment: the lines that have most words in common with the judged items."""
    fragments, words = question["fragments"], _words(str(question.get("benchmark", "")))
    return ChunkReview(
        reviewed_fragment_ids=tuple(str(item["id"]) for item in fragments),
        notes=tuple(
            EvidenceNote(evidence_ref=str(item["ref"]), note=_best(str(item["text"]), words))
            for item in fragments
        ),
        fraud_signals=tuple(
            f"{item['ref']}: speaks to the grader"
            for item in fragments
            if INJECTION.search(str(item["text"]))
        ),
    )


def notes(question: Json) -> NotesSummary:
    """All reviews' notes, each once, in their order."""
    reviews = question["reviews"]
    kept = {(n["evidence_ref"], n["note"]): None for r in reviews for n in r.get("notes", [])}
    signals = {signal: None for r in reviews for signal in r.get("fraud_signals", [])}
    return NotesSummary(
        reviewed_summary_ids=tuple(str(r.get("id", k)) for k, r in enumerate(reviews)),
        notes=tuple(EvidenceNote(evidence_ref=ref, note=note) for ref, note in kept),
        fraud_signals=tuple(signals),
    )


def facts(question: Json) -> Facts:
    """What the notes say about every judged item; where they say nothing, the least."""
    items, reviews = question["items"], _reviews(question["notes"])
    found = [note for review in reviews for note in review.get("notes", [])]
    valid = [str(ref) for ref in question.get("valid_refs", [])]
    fraud = any(review.get("fraud_signals") for review in reviews)
    return Facts(
        reason="Found by words in common with the notes: this is a search engine's retrieval.",
        criteria=tuple(_criterion(item, found, valid) for item in items.get("criteria", [])),
        tie_breaks=tuple(_tie_break(item, found, valid) for item in items.get("tie_breaks", [])),
        failures=tuple(
            FailureFact(failure_id=item["id"], triggered=False, evidence_refs=tuple(valid[:1]))
            for item in items.get("failures", [])
        ),
        anti_fraud=tuple(
            FraudFact(check_id=item["id"], passed=not fraud, evidence_refs=tuple(valid[:1]))
            for item in items.get("anti_fraud", [])
        ),
    )


def _criterion(item: Json, found: list[Json], valid: list[str]) -> CriterionFact:
    note = _matching(str(item["description"]), found, valid)
    refs = (note["evidence_ref"],) if note else ()
    match item["measurement"]["type"]:
        case "levels":
            level = _level(item["measurement"]["levels"], note)
            return CriterionFact(criterion_id=item["id"], level_id=level, evidence_refs=refs)
        case "binary":
            return CriterionFact(criterion_id=item["id"], value=bool(note), evidence_refs=refs)
    value = _number(note) if note else item["measurement"]["minimum"]
    return CriterionFact(criterion_id=item["id"], value=value, evidence_refs=refs)


def _tie_break(item: Json, found: list[Json], valid: list[str]) -> TieBreakFact:
    note = _matching(str(item["description"]), found, valid)
    refs = (note["evidence_ref"],) if note else tuple(valid[:1])
    worst = item["minimum"] if item["direction"] == "higher" else item["maximum"]
    value = min(item["maximum"], max(item["minimum"], _number(note))) if note else worst
    return TieBreakFact(tie_break_id=item["id"], value=value, evidence_refs=refs)


def _level(levels: list[Json], note: Json | None) -> str:
    """The level whose words the note has most of; without a note the one that earns nothing."""
    if note is None:
        return str(min(levels, key=lambda level: level["fraction"])["id"])
    words = _words(note["note"])
    return str(max(levels, key=lambda level: len(words & _words(level["description"])))["id"])


def _matching(description: str, found: list[Json], valid: list[str]) -> Json | None:
    """The note with most words of the description, if it has at least half of them."""
    words = _words(description)
    usable = [note for note in found if note["evidence_ref"] in valid]
    best = max(usable, key=lambda note: len(words & _words(note["note"])), default=None)
    enough = best is not None and 2 * len(words & _words(best["note"])) >= len(words) > 0
    return best if enough else None


def _reviews(notes: Json | list[Json]) -> list[Json]:
    """Chunk reviews or their one summary."""
    return notes if isinstance(notes, list) else [notes]


def _number(note: Json) -> float:
    numbers = re.findall(r"-?\d+(?:\.\d+)?", note["note"])
    return float(numbers[0]) if numbers else 0.0


def _best(text: str, words: set[str]) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    ranked = sorted(lines, key=lambda line: -len(words & _words(line)))
    return " / ".join(ranked[:3])[:NOTE_CHARS]


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z0-9]{3,}", text.casefold())}
