"""What is there, what is missing, what has to be measured."""

import pytest

from schemas.events.grading import GradingOpened
from schemas.events.measurement import MeasurementFailed, MeasurementRecorded, MeasurementRequested
from schemas.values.benchmark import Criterion, Judged, NumericLinear, RequiredOutput
from services.grader.core.measurement import record
from services.grader.core.opening import measurements_of, open_grading, request_measurement
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
    locked,
    opened,
    sha,
)

ONE = "e001x1-a0001"
M = f"{ONE}-m-measure"


def outputs(*refs: str):
    return tuple(RequiredOutput(description="x", evidence_ref=ref) for ref in refs)


def past(*files, contract=None, outcome="completed", evidence=True, **changes) -> Past[View]:
    found = Past(View)
    found.given(locked(found, contract), opened(found, ["a0001"]))
    if evidence:
        found.given(frozen(found, ONE, *files, **changes), of=ONE)
    return found.given(execution_closed(found, {ONE: outcome}), of="e001")


def missing(found: Past[View]) -> tuple[str, ...]:
    (event,) = facts(open_grading(found.view, ONE, START))
    return event.missing


def test_grading_opens_once_for_each_attempt_of_a_closed_epoch():
    """With the genome of its evidence and the programs to run."""
    found = past()
    drafts = open_grading(found.view, ONE, START)
    (event,) = facts(drafts)
    assert (sha("genome a0001"), None, ("measure",), False) == (
        event.genome,
        event.forced_failure,
        event.programs,
        event.judged,
    )
    assert open_grading(found.then(drafts).view, ONE, START) == []
    assert open_grading(found.view, "e001x1-a0009", START) == []


def test_a_judged_item_makes_the_grading_judged():
    """Otherwise it costs no model call."""
    rule = Criterion(
        id="j",
        description="x",
        weight=100,
        measurement=NumericLinear(direction="higher", minimum=0, target=1),
        source=Judged(),
    )
    found = past(contract=benchmark(criteria=(rule,)))
    assert facts(open_grading(found.view, ONE, START))[0].judged


@pytest.mark.parametrize(
    ("kwargs", "reason"),
    [
        ({"evidence": False}, "no evidence"),
        ({"outcome": "failed"}, "the attempt failed"),
        ({"candidate": None}, "missing: candidate"),
    ],
)
def test_no_judgement_can_help_an_attempt_without(kwargs, reason):
    """Evidence, success and required outputs."""
    assert reason == facts(open_grading(past(**kwargs).view, ONE, START))[0].forced_failure


def test_a_deadline_is_no_failure():
    """What was made in time is graded."""
    found = past(outcome="deadline")
    assert facts(open_grading(found.view, ONE, START))[0].forced_failure is None


def test_without_evidence_the_genome_is_that_of_the_opening():
    """The epoch's own list knows it."""
    found = past(evidence=False)
    assert sha("genome a0001") == facts(open_grading(found.view, ONE, START))[0].genome


@pytest.mark.parametrize(
    ("ref", "files", "present"),
    [
        ("activity", (), True),
        ("artifacts", (file("artifacts/a"),), True),
        ("artifacts", (file("workspace/artifacts"),), False),
        ("file:*.txt", (file("workspace/a.txt"),), True),
        ("file:*.txt", (file("workspace/deep/a.txt"),), False),
        ("file:*/a.txt", (file("workspace/deep/a.txt"),), True),
        ("file:a.txt", (), False),
        ("external:measure", (), True),
    ],
)
def test_a_required_output_is_present(ref, files, present):
    """`*` does not cross a slash; the measurement speaks for itself."""
    found = past(*files, contract=benchmark(required_outputs=outputs(ref)))
    assert (() if present else (ref,)) == missing(found)


def test_no_activity_is_a_missing_output():
    """Counted by the kernel from the agent's own lines."""
    contract = benchmark(required_outputs=outputs("activity"))
    assert missing(past(contract=contract, activity=0)) == ("activity",)


@pytest.mark.parametrize("cumulative", [False, True])
def test_inherited_files_count_only_in_a_cumulative_benchmark(cumulative):
    """A newborn that did nothing has no output."""
    old = file("workspace/a.txt", mark="inherited")
    contract = benchmark(required_outputs=outputs("file:a.txt"), cumulative=cumulative)
    assert (() if cumulative else ("file:a.txt",)) == missing(past(old, contract=contract))


def judging(**changes) -> Past[View]:
    found = past(**changes)
    return found.then(open_grading(found.view, ONE, START))


def test_a_measurement_is_requested_once():
    """With the sealed evidence and a seed of its own."""
    found = judging()
    drafts = request_measurement(found.view, M, START)
    (event,) = facts(drafts)
    assert (ONE, "measure", found.view.evidence[ONE].manifest.sha256) == (
        event.attempt,
        event.program,
        event.evidence,
    )
    assert request_measurement(found.then(drafts).view, M, START) == []
    assert measurements_of(found.view, ONE) == [M]
    assert measurements_of(found.view, "other") == []


def test_a_forced_failure_is_not_measured():
    """Nothing could change its score."""
    assert request_measurement(judging(outcome="failed").view, M, START) == []
    assert request_measurement(past().view, M, START) == []


def measuring(outcome: str = "completed", output: bytes | None = b'{"value": 1}') -> Past[View]:
    found = judging()
    found.then(request_measurement(found.view, M, START))
    result = found.keep(output) if output is not None else None
    return found.given(finished(outcome, result=result, because="x"), of=M)


def test_an_answer_is_recorded_once():
    """The first answer counts and is never taken again."""
    found = measuring()
    drafts = record(found.view, M, START)
    assert isinstance(facts(drafts)[0], MeasurementRecorded)
    assert record(found.then(drafts).view, M, START) == []


@pytest.mark.parametrize(
    ("outcome", "output", "reason"),
    [
        ("failed", b"{}", "failed: x"),
        ("deadline", b"{}", "deadline: x"),
        ("completed", None, "the program printed nothing"),
        ("completed", b"{", "the output is not JSON"),
        ("completed", b"[" * 200_000, "the output is not JSON"),
        ("completed", b"\xff", "the output is not JSON"),
        ("completed", b"[1]", "the output is not a JSON object"),
    ],
)
def test_what_is_no_json_object_is_a_failed_measurement(outcome, output, reason):
    """With its reason, and for good."""
    found = measuring(outcome, output)
    drafts = record(found.view, M, START)
    (event,) = facts(drafts)
    assert isinstance(event, MeasurementFailed)
    assert (reason, False) == (event.reason, event.retryable)
    assert record(found.then(drafts).view, M, START) == []


def test_a_measurement_that_the_machine_stopped_is_no_answer():
    """It is queued again after the resume."""
    assert record(measuring("cancelled").view, M, START) == []


def test_an_attempt_is_no_measurement():
    """Only `<attempt>-m-<program>` is."""
    assert record(measuring().view, ONE, START) == []


def test_facts_about_an_unknown_attempt_change_nothing():
    """A measurement of another try is ignored."""
    found = past()
    event = MeasurementRequested(
        attempt="x", agent="a0001", program="measure", evidence=sha("e"), seed=1
    )
    found.given(event, of="x-m-measure")
    assert found.view.judging == {}
    assert isinstance(facts(open_grading(found.view, ONE, START))[0], GradingOpened)
