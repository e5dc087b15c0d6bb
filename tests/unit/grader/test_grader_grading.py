"""From evidence to a score, and from scores to a leaderboard."""

import json
from decimal import Decimal

from schemas import canonical
from schemas.events.grading import GradingFactsExtracted, GradingInterrupted
from schemas.events.model_call import Caller, ModelCallRecorded
from schemas.events.run import RunCompleted, RunPreflightRequested, RunResumed
from schemas.values.answers import CriterionFact, Facts
from schemas.values.benchmark import AntiFraud, Criterion, FailureRule, Judged, NumericLinear
from schemas.values.runtime import Usage
from services.grader.core import grading
from services.grader.core.measurement import record
from services.grader.core.opening import open_grading, request_measurement
from services.grader.core.view import View
from tests.support.given import (
    START,
    Past,
    benchmark,
    execution_closed,
    facts,
    file,
    finished,
    frozen,
    kinds,
    locked,
    opened,
    sha,
)

ONE = "e001x1-a0001"
M = f"{ONE}-m-measure"
JUDGED = benchmark(
    criteria=(
        Criterion(
            id="j",
            description="x",
            weight=100,
            measurement=NumericLinear(direction="higher", minimum=0, target=1),
            source=Judged(),
        ),
    ),
    programs=(),
    tie_breaks=(),
    failures=(FailureRule(id="f", condition="x", source=Judged()),),
    anti_fraud=(AntiFraud(id="a", check="x", source=Judged()),),
)
BIG = b"".join(b"%05d " % n for n in range(20_000))


def past(contract=None, *texts: bytes, outcome="completed", mark=None) -> Past[View]:
    """One attempt whose grading is open; each text is a file of its evidence."""
    found = Past(View)
    found.given(locked(found, contract), opened(found, ["a0001"]))
    files = [file(f"workspace/{n}.txt", text, mark) for n, text in enumerate(texts)]
    for text in texts:
        found.keep(text)
    found.given(finished(outcome), of=ONE).given(frozen(found, ONE, *files), of=ONE)
    found.given(execution_closed(found, {ONE: outcome}), of="e001")
    return found.then(open_grading(found.view, ONE, START))


def advance(found: Past[View]):
    return grading.advance(found.view, ONE, START)


def measured(answer: bytes, outcome: str = "completed") -> Past[View]:
    found = past()
    found.then(request_measurement(found.view, M, START))
    found.given(finished(outcome, result=found.keep(answer)), of=M)
    return found.then(record(found.view, M, START))


def test_a_grading_waits_for_its_measurements():
    """Then it is scored once, without any model."""
    assert advance(past()) == []
    found = measured(b'{"value": 5, "bad": false, "honest": true}')
    drafts = advance(found)
    (event,) = facts(drafts)
    assert (Decimal(50), "success", "1") == (event.score, event.outcome, event.formula_version)
    assert advance(found.then(drafts)) == []


def test_a_failed_measurement_is_a_failed_attempt():
    """The reason names the program."""
    (event,) = facts(advance(measured(b"[]")))
    assert (
        event.outcome,
        event.reason,
    ) == ("failed", "measurement measure failed: the output is not a JSON object")


def test_a_forced_failure_is_scored_at_once():
    """No measurement and no model is asked."""
    (event,) = facts(advance(past(outcome="failed")))
    assert (event.outcome, event.reason) == ("failed", "the attempt failed")


def test_nothing_is_graded_twice_or_after_the_end():
    """An unknown attempt has no judgement."""
    found = measured(b"{}")
    assert grading.advance(found.view, "other", START) == []
    champion = {"agent": "a0001", "genome": sha("g"), "score": 1}
    found.given(RunCompleted(epochs_run=1, champion=champion, leaderboard_sha=sha("l")))  # type: ignore[arg-type]
    assert advance(found) == []


def test_evidence_is_queued_in_chunks_whose_coverage_is_recorded():
    """All chunks of an attempt at once."""
    found = past(JUDGED, BIG)
    drafts = advance(found)
    assert [(d.chunk, d.of, d.count) for d in facts(drafts)] == [(0, 3, 2), (1, 3, 2), (2, 3, 2)]
    assert advance(found.then(drafts)) == []


def test_inherited_binary_and_huge_files_are_not_shown_to_the_model():
    """Evidence without text is one empty chunk."""
    assert facts(advance(past(JUDGED, b"old", mark="inherited")))[0].count == 0
    assert facts(advance(past(JUDGED, b"\xff\xfe")))[0].count == 0
    assert facts(advance(past(JUDGED, b"x" * (grading.TEXT_BYTES + 1))))[0].count == 0


def test_a_cumulative_benchmark_shows_inherited_files():
    """It says so itself."""
    cumulative = JUDGED.model_copy(update={"cumulative": True})
    assert facts(advance(past(cumulative, b"old", mark="inherited")))[0].count == 1


def test_measurements_are_shown_beside_the_evidence():
    """Also when a program prints a lone surrogate."""
    found = measured(b'{"text": "\xed\xa0\x80"}')
    (fragment,) = grading.evidence_fragments(found.view, ONE)
    assert fragment.ref == "external:measure"


def test_well_known_files_have_names_of_their_own():
    """All others are cited by path."""
    names = ["candidate.json", "result.json", "activity.jsonl", "workspace/a"]
    assert [grading.reference_of(name) for name in names] == [
        "candidate",
        "result",
        "activity",
        "file:workspace/a",
    ]


def queued(*texts: bytes) -> Past[View]:
    found = past(JUDGED, *(texts or (b"text",)))
    return found.then(advance(found))


def review(found: Past[View], chunk: int = 0) -> Past[View]:
    content = found.keep(b'{"reviewed_fragment_ids":[],"notes":[]}')
    event = grading.reviewed(found.view, ONE, chunk, found.blobs[content.sha256], "c1")
    return found.given(event, of=ONE)


def refuse(found: Past[View], stage: str, chunk: int, tries: int) -> Past[View]:
    return found.given(grading.refused(stage, chunk, tries, [], "c1"), of=ONE)


def test_facts_are_requested_when_every_chunk_is_reviewed():
    """Once, over all reviews."""
    found = queued(BIG)
    review(review(found, 0), 1)
    assert advance(found) == []
    drafts = advance(review(found, 2))
    assert kinds(drafts) == ["grading.facts_requested"]
    assert len(facts(drafts)[0].reviews) == 3
    assert advance(found.then(drafts)) == []


def test_extracted_facts_make_the_score():
    """Values, triggered conditions and passed checks of the model, the formula of the kernel."""
    found = review(queued())
    found.then(advance(found))
    answer = Facts(
        reason="fine",
        criteria=(CriterionFact(criterion_id="j", value=0.25, evidence_refs=("file:a",)),),
        failures=({"failure_id": "f", "triggered": False},),  # type: ignore[arg-type]
        anti_fraud=({"check_id": "a", "passed": True, "evidence_refs": []},),  # type: ignore[arg-type]
    )
    extracted = GradingFactsExtracted(facts=found.keep(canonical(answer)), call="c")
    (event,) = facts(advance(found.given(extracted, of=ONE)))
    assert (Decimal(25), ("file:a",)) == (event.score, event.criteria[0].refs)


def test_every_refused_chunk_is_asked_again():
    """Two refusals that come before the next decision are both answered."""
    found = queued(BIG)
    refuse(refuse(found, "chunk", 2, 0), "chunk", 0, 1)
    drafts = advance(found)
    assert [(d.chunk, d.tries) for d in facts(drafts)] == [(0, 2), (2, 1)]
    assert advance(found.then(drafts)) == []


def test_refused_facts_are_asked_again():
    """With the violations of the last answer."""
    found = review(queued())
    found.then(advance(found))
    drafts = advance(refuse(found, "facts", 0, 0))
    assert [(d.data.type, d.data.tries) for d in drafts] == [("grading.facts_requested", 1)]
    assert advance(found.then(drafts)) == []


def test_three_refusals_interrupt_the_grading():
    """An honest agent is not failed for the Grader's mistake."""
    found = refuse(queued(), "chunk", 0, 2)
    drafts = advance(found)
    assert kinds(drafts) == ["grading.interrupted"]
    assert advance(found.then(drafts)) == []


def test_a_resume_asks_again_what_broke_the_contract_three_times():
    """Otherwise no resume could ever help."""
    found = refuse(queued(), "chunk", 0, 2)
    found.then(advance(found)).given(RunResumed())
    drafts = advance(found)
    assert [(d.data.type, d.data.tries) for d in drafts] == [("grading.chunk_queued", 1)]
    assert advance(found.then(drafts)) == []


def test_a_resume_asks_only_for_what_is_missing():
    """Reviewed chunks stay reviewed, and an uninterrupted grading stays as it is."""
    found = review(queued(BIG), 1)
    found.given(RunResumed())
    assert advance(found) == []
    found.given(GradingInterrupted(stage="chunk", reason="x"), of=ONE).given(RunResumed())
    assert [d.chunk for d in facts(advance(found))] == [0, 2]


def test_a_resume_asks_for_facts_again():
    """The last step counts its tries too."""
    found = review(queued())
    found.then(advance(found))
    found.given(GradingInterrupted(stage="facts", reason="x"), of=ONE).given(RunResumed())
    assert [d.tries for d in facts(advance(found))] == [1]


def test_a_resume_with_nothing_missing_goes_on():
    """The interruption came beside the last answer."""
    found = review(queued())
    found.given(GradingInterrupted(stage="chunk", reason="x"), of=ONE).given(RunResumed())
    assert kinds(advance(found)) == ["grading.facts_requested"]


def test_the_kernel_counts_what_an_attempt_used():
    """Tokens and calls of the organism, its time, its restarts, its new files."""
    found = past(None, b"x")
    for name, attempt in (("a0001", ONE), ("grader", None)):
        call = ModelCallRecorded(
            call="c1",
            key=sha("k"),
            tape_key=sha("k"),
            caller=Caller(kind="organism", name=name, attempt=attempt),
            purpose="x",
            model="m",
            request=found.keep(b"{}"),
            response=found.keep(b"{}"),
            finish="stop",
            usage=Usage(prompt=3, completion=4),
            latency_ms=1,
            tries=1,
        )
        found.given(call, of="c1")
    expected = {"wall_seconds": 10.0, "restarts": 1, "tokens": 7, "model_calls": 1, "files_new": 1}
    assert expected == grading.kernel_facts(found.view, ONE)
    assert grading.kernel_facts(found.view, "other")["wall_seconds"] == 0


def test_the_leaderboard_is_published_once_when_all_are_scored():
    """Best first, with its counts."""
    found = measured(b"{}")
    assert grading.publish(found.view, "e001", START) == []
    found.then(advance(found))
    drafts = grading.publish(found.view, "e001", START)
    (event,) = facts(drafts)
    assert (event.count, event.successes, event.failures) == (1, 0, 1)
    assert json.loads(drafts[0].blobs[0])[0]["agent"] == "a0001"
    assert grading.publish(found.then(drafts).view, "e001", START) == []


def test_a_new_epoch_forgets_the_last_one():
    """Nothing of it is needed again; facts about unknown attempts are ignored."""
    found = measured(b"{}")
    found.given(opened(found, ["a0001"], epoch=2), of="e002")
    found.given(GradingInterrupted(stage="chunk", reason="x"), of=ONE)
    assert (found.view.judging, found.view.scores, found.view.published) == ({}, {}, False)


def test_the_preflight_is_kept():
    """The effect that checks the benchmark asks for it."""
    found = Past(View)
    event = RunPreflightRequested(benchmark=found.keep(b"{}"), required=())
    assert event == found.given(event).view.preflight
