"""Who gets an attempt."""

from schemas import BlobRef, TreeRef, canonical
from schemas.events.genome import GenomeStaged
from schemas.events.measurement import MeasurementRequested
from schemas.events.reflection import ReflectionRequested
from schemas.events.run import (
    RunCancelRequested,
    RunFailed,
    RunPreflightRequested,
)
from services.sandbox.core import queueing
from services.sandbox.core.view import View
from tests.support.given import (
    START,
    Past,
    benchmark,
    committed,
    facts,
    finished,
    frozen,
    locked,
    opened,
    queued,
    requested,
    sha,
)

ONE = "e001x1-a0001"
M = f"{ONE}-m-measure"
R = f"{ONE}-reflect"


def ready(**changes) -> Past[View]:
    past = Past(View).given(requested())
    ref = past.keep(canonical(benchmark(**changes)))
    return past.given(RunPreflightRequested(benchmark=ref, required=()), locked(past))


def epoch(**changes) -> Past[View]:
    past = ready(**changes)
    return past.given(opened(past, ["a0001", "a0002"]), of="e001")


def test_an_epoch_queues_an_attempt_for_every_agent_at_once():
    """With the genome and the state of the opening; once."""
    past = epoch(tools=("web",))
    drafts = queueing.queue_epoch(past.view, "e001", START)
    assert [d.entity_id for d in drafts] == [ONE, "e001x1-a0002"]
    first = facts(drafts)[0]
    seed = queueing.benchmark_seed(past.view.request)
    assert (sha("genome a0001"), 60, 6, seed, ("web",)) == (
        first.genome,
        first.wall_seconds,
        first.finalize_seconds,
        first.seed,
        first.tools,
    )
    assert queueing.queue_epoch(past.then(drafts).view, "e001", START) == []


def test_a_doorbell_of_another_epoch_queues_nothing():
    """It rang before a restart."""
    assert queueing.queue_epoch(epoch().view, "e007", START) == []


def test_nothing_is_queued_in_a_run_that_stops_or_has_ended():
    """Nor before there is an epoch."""
    assert queueing.queue_epoch(ready().view, "e001", START) == []
    for event in (RunCancelRequested(), RunFailed(reason="no_success")):
        past = asked().given(event)
        assert queueing.queue_epoch(past.view, "e001", START) == []
        assert queueing.queue_measurement(past.view, M, START) == []
        assert queueing.queue_reflection(past.view, R, START) == []
        assert queueing.queue_trial(past.view, "t-p", START) == []


def test_without_a_benchmark_there_are_no_tools():
    """An epoch never opens without one; the fold does not break."""
    past = Past(View).given(requested())
    past.given(opened(past, ["a0001"]), of="e001")
    assert facts(queueing.queue_epoch(past.view, "e001", START))[0].tools == ()


def asked() -> Past[View]:
    """A measurement, a reflection and a trial are wanted."""
    past = epoch()
    context = past.keep(b"{}")
    measure = MeasurementRequested(
        attempt=ONE, agent="a0001", program="measure", evidence=sha("e"), seed=3
    )
    reflect = ReflectionRequested(
        agent="a0001", genome=sha("g"), state=sha("s"), context=context, wall_seconds=50
    )
    staged = GenomeStaged(
        proposal="p",
        origin="birth",
        tree=TreeRef(sha256=sha("tree"), size=1),
        prompt=BlobRef(sha256=sha("prompt"), size=1),
        touches_code=True,
        changed=(),
    )
    return past.given(measure, of=M).given(reflect, of="e001-a0001").given(staged, of="p")


def test_a_program_measures_frozen_evidence_without_restarts():
    """For the program's own time."""
    (event,) = facts(queueing.queue_measurement(asked().view, M, START))
    assert ("measurement", sha("e"), 60, 0, 3) == (
        event.purpose,
        event.evidence,
        event.wall_seconds,
        event.limits.restarts,
        event.seed,
    )


def test_a_reflection_runs_the_agents_own_genome_in_its_own_state():
    """With its context and a tenth of its time to finish."""
    (event,) = facts(queueing.queue_reflection(asked().view, R, START))
    assert ("reflection", sha("g"), sha("s"), 50, 5) == (
        event.purpose,
        event.genome,
        event.state_in,
        event.wall_seconds,
        event.finalize_seconds,
    )


def test_a_staged_proposal_that_touches_code_is_tried():
    """The staged tree itself, once, without restarts."""
    past = asked()
    (event,) = facts(queueing.queue_trial(past.view, "t-p", START))
    assert ("trial", sha("tree"), 0) == (event.purpose, event.genome, event.limits.restarts)
    prose = past.view.staged["p"].model_copy(update={"touches_code": False})
    assert queueing.queue_trial(past.given(prose, of="p").view, "t-p", START) == []


def test_what_nobody_asked_for_is_not_queued():
    """An unknown id has no request."""
    past = epoch()
    assert queueing.queue_measurement(past.view, M, START) == []
    assert queueing.queue_reflection(past.view, R, START) == []
    assert queueing.queue_trial(past.view, "t-p", START) == []


def test_it_is_queued_once_and_again_only_after_a_cancellation():
    """A pause cancels; the resume queues it anew."""
    queue = {
        M: queueing.queue_measurement,
        R: queueing.queue_reflection,
        "t-p": queueing.queue_trial,
    }
    for about, decide in queue.items():
        past = asked()
        past.given(queued("x-a0001"), of=about)
        assert decide(past.view, about, START) == []
        assert decide(past.given(finished(), of=about).view, about, START) == []
        past.given(finished("cancelled"), of=about)
        assert [about] == [d.entity_id for d in decide(past.view, about, START)]


def test_a_new_epoch_keeps_only_what_still_runs():
    """Requests, stages and finished attempts of the last one are gone."""
    past = asked()
    past.given(queued(ONE), of=ONE).given(finished(), frozen(past, ONE), of=ONE)
    past.given(queued("e001x1-a0002"), of="e001x1-a0002")
    past.given(opened(past, ["a0001"], epoch=2), of="e002")
    assert list(past.view.attempts) == ["e001x1-a0002"]
    assert (past.view.measurements, past.view.reflections, past.view.staged) == ({}, {}, {})


def test_committed_genomes_are_known_by_id():
    """With the tree that runs."""
    past = epoch().given(committed("g"), of="g")
    assert {sha("g"): sha("files g")} == past.view.genomes
