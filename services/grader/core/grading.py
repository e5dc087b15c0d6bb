"""From evidence to a score: measure, review, extract, compute; whatever is due next."""

import json
from datetime import datetime

from schemas import BlobRef, Draft, Event, ref_of
from schemas.canonical import rows
from schemas.events.benchmark import Violation
from schemas.events.grading import (
    GradingChunkQueued,
    GradingChunkReviewed,
    GradingFactsExtracted,
    GradingFactsRequested,
    GradingInterrupted,
    GradingRefused,
)
from schemas.events.leaderboard import LeaderboardPublished
from schemas.events.score import ScoreComputed
from schemas.ids import epoch_id
from schemas.values import answers
from schemas.values.tree import Tree
from services.grader.core import scoring
from services.grader.core.chunking import Fragment, chunks, coverage, fragments
from services.grader.core.ranking import rank
from services.grader.core.view import Judging, View

TRIES = 3
TEXT_BYTES = 2 * 1024 * 1024


def advance(view: View, about: str, now: datetime) -> list[Draft]:
    """The next events of one attempt's judgement."""
    judging = view.judging.get(about)
    if view.terminal or judging is None or judging.scored or judging.interrupted:
        return []
    opened = judging.opened
    if opened.forced_failure is not None:
        return _score(view, about, judging)
    if set(opened.programs) - set(judging.measured) - set(judging.failed):
        return []
    if not opened.judged or judging.failed or judging.facts is not None:
        return _score(view, about, judging)
    if judging.refused:
        return _again(view, about, judging)
    if judging.retry and (missing := _retry(view, about, judging)):
        return missing
    if not judging.queued:
        return _queue(view, about)
    if len(judging.reviewed) < len(judging.queued) or judging.facts_requested is not None:
        return []
    reviews = tuple(judging.reviewed[n].review for n in sorted(judging.reviewed))
    return [_draft(view, about, GradingFactsRequested(reviews=reviews))]


def _queue(view: View, about: str) -> list[Draft]:
    packed = chunks(evidence_fragments(view, about)) or [[]]
    drafts = []
    for number, chunk in enumerate(packed):
        listed = rows(chunk)
        queued = GradingChunkQueued(
            chunk=number,
            of=len(packed),
            fragments=listed.ref,
            count=listed.count,
            coverage=coverage([f.id for f in chunk]),
        )
        drafts.append(Draft(about, queued, _epoch(view), (listed.content,)))
    return drafts


def evidence_fragments(view: View, attempt: str) -> list[Fragment]:
    """Everything textual that the agent made in this attempt, then what was measured."""
    assert view.benchmark is not None
    tree = Tree.model_validate_json(view.read(view.evidence[attempt].manifest))
    found: list[Fragment] = []
    for file in tree.files:
        if file.mark == "inherited" and not view.benchmark.cumulative:
            continue
        text = _text(view, file.sha256, file.size)
        if text is not None:
            found += fragments(reference_of(file.path), text)
    for program, response in sorted(view.judging[attempt].measured.items()):
        found += fragments(f"external:{program}", view.read(response).decode(errors="replace"))
    return found


def reference_of(path: str) -> str:
    """What a fact cites: `candidate`, `result`, `activity` or `file:<path>`."""
    known = {"candidate.json": "candidate", "result.json": "result", "activity.jsonl": "activity"}
    return known.get(path, f"file:{path}")


def _text(view: View, sha256: str, size: int) -> str | None:
    if size > TEXT_BYTES:
        return None
    try:
        return view.read(BlobRef(sha256=sha256, size=size)).decode()
    except UnicodeDecodeError:
        return None


def _again(view: View, about: str, judging: Judging) -> list[Draft]:
    """Ask once more, showing every violation; after three tries grading is interrupted."""
    refusals = [judging.refused[n] for n in sorted(judging.refused)]
    last = next((r for r in refusals if r.tries >= TRIES), None)
    if last is not None:
        reason = f"the Grader broke the {last.stage} contract {last.tries} times"
        return [_draft(view, about, GradingInterrupted(stage=last.stage, reason=reason))]
    return [_draft(view, about, _asked_again(judging, refused)) for refused in refusals]


def _asked_again(judging: Judging, refused: GradingRefused) -> Event:
    again = {"tries": refused.tries, "violations": refused.violations}
    if refused.stage == "chunk":
        return judging.queued[refused.chunk].model_copy(update=again)
    assert judging.facts_requested is not None
    return judging.facts_requested.model_copy(update=again)


def _retry(view: View, about: str, judging: Judging) -> list[Draft]:
    """After a resume only what is missing is asked again."""
    if judging.facts_requested is not None:
        again = {"tries": judging.facts_requested.tries + 1}
        return [_draft(view, about, judging.facts_requested.model_copy(update=again))]
    missing = [q for n, q in sorted(judging.queued.items()) if n not in judging.reviewed]
    return [_draft(view, about, q.model_copy(update={"tries": q.tries + 1})) for q in missing]


def reviewed(view: View, about: str, chunk: int, answer: bytes, call: str) -> GradingChunkReviewed:
    queued = view.judging[about].queued[chunk]
    return GradingChunkReviewed(
        chunk=chunk, review=ref_of(answer), coverage=queued.coverage, call=call
    )


def refused(
    stage: str, chunk: int, tries: int, broken: list[Violation], call: str | None
) -> GradingRefused:
    return GradingRefused(
        stage=stage, chunk=chunk, tries=tries + 1, violations=tuple(broken[:50]), call=call
    )


def _score(view: View, about: str, judging: Judging) -> list[Draft]:
    assert view.benchmark is not None
    opened = judging.opened
    forced = opened.forced_failure
    if forced is None and judging.failed:
        program, reason = sorted(judging.failed.items())[0]
        forced = f"measurement {program} failed: {reason}"
    result = scoring.score(view.benchmark, facts_of(view, about, judging), forced)
    event = ScoreComputed(
        attempt=about,
        agent=opened.agent,
        genome=opened.genome,
        outcome=result.outcome,
        score=result.score,
        tie_break=result.tie_break,
        criteria=result.criteria,
        failures=result.failures,
        fraud=result.fraud,
        reason=result.reason[:2000],
        formula_version=scoring.FORMULA_VERSION,
        facts=judging.facts.facts if judging.facts else None,
    )
    return [_draft(view, about, event)]


def facts_of(view: View, about: str, judging: Judging) -> scoring.Facts:
    """Measured, kernel-held and judged facts of one attempt."""
    extracted = _extracted(view, judging.facts)
    return scoring.Facts(
        measured={p: json.loads(view.read(ref)) for p, ref in judging.measured.items()},
        kernel=kernel_facts(view, about),
        judged={fact.criterion_id: fact for fact in extracted.criteria},
        tie_breaks={fact.tie_break_id: fact.value for fact in extracted.tie_breaks},
        triggered=frozenset(f.failure_id for f in extracted.failures if f.triggered),
        passed=frozenset(f.check_id for f in extracted.anti_fraud if f.passed),
    )


def _extracted(view: View, facts: GradingFactsExtracted | None) -> answers.Facts:
    if facts is None:
        return answers.Facts(reason="nothing is judged")
    return answers.Facts.model_validate_json(view.read(facts.facts))


def kernel_facts(view: View, about: str) -> dict[str, int | float]:
    finished, evidence = view.finished.get(about), view.evidence.get(about)
    return {
        "wall_seconds": finished.wall_seconds if finished else 0,
        "restarts": finished.restarts if finished else 0,
        "tokens": view.tokens.get(about, 0),
        "model_calls": view.calls.get(about, 0),
        "files_new": evidence.new if evidence else 0,
    }


def publish(view: View, about: str, now: datetime) -> list[Draft]:
    """The leaderboard, once every attempt of the epoch has a score."""
    if view.closed is None or view.published or view.terminal or view.epoch is None:
        return []
    if about != epoch_id(view.epoch.epoch) or len(view.scores) < len(view.rows):
        return []
    ranked = rank(view.scores.values())
    board = rows(ranked)
    successes = sum(row.outcome == "success" for row in ranked)
    published = LeaderboardPublished(
        epoch=view.epoch.epoch,
        attempt_try=view.epoch.attempt_try,
        rows=board.ref,
        count=board.count,
        successes=successes,
        failures=board.count - successes,
    )
    return [Draft(about, published, view.epoch.epoch, (board.content,))]


def _draft(view: View, about: str, event: Event) -> Draft:
    return Draft(about, event, _epoch(view))


def _epoch(view: View) -> int | None:
    return view.epoch.epoch if view.epoch else None
