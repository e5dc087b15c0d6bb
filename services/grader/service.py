"""The grader: judges frozen evidence by the locked benchmark and publishes the ranking."""

from collections.abc import Iterable

from schemas import Recorded, ids
from schemas.events.attempt import AttemptFinished
from schemas.events.epoch import EpochExecutionClosed
from schemas.events.grading import (
    GradingChunkQueued,
    GradingChunkReviewed,
    GradingFactsExtracted,
    GradingFactsRequested,
    GradingOpened,
    GradingRefused,
)
from schemas.events.measurement import MeasurementFailed, MeasurementRecorded
from schemas.events.run import RunPreflightRequested, RunResumed
from schemas.events.score import ScoreComputed
from services.grader.core import grading, measurement, opening
from services.grader.core.view import HANDLES, View
from services.grader.effects import judge, preflight
from services.kit.service import Effect, Reaction, Service


def _attempts(recorded: Recorded, view: View) -> Iterable[str]:
    return list(view.rows)


def _programs(recorded: Recorded, view: View) -> Iterable[str]:
    return opening.measurements_of(view, recorded.entity_id)


def _measurement(recorded: Recorded, view: View) -> Iterable[str]:
    return (recorded.entity_id,) if "-m-" in recorded.entity_id else ()


def _judged(recorded: Recorded, view: View) -> Iterable[str]:
    """The attempt itself, also when a measurement of it is what happened."""
    if isinstance(recorded.data, RunResumed):
        return list(view.judging)
    return (recorded.entity_id.partition("-m-")[0],)


def _epoch(recorded: Recorded, view: View) -> Iterable[str]:
    return (ids.epoch_id(view.epoch.epoch),) if view.epoch else ()


ADVANCING = (
    GradingOpened, GradingChunkReviewed, GradingRefused, GradingFactsExtracted,
    MeasurementRecorded, MeasurementFailed, RunResumed,
)  # fmt: skip

SERVICE = Service(
    name="grader",
    view=View,
    handles=HANDLES,
    reactions=(
        Reaction("open@1", (EpochExecutionClosed,), _attempts, opening.open_grading),
        Reaction("measure@1", (GradingOpened,), _programs, opening.request_measurement),
        Reaction("record@1", (AttemptFinished,), _measurement, measurement.record),
        Reaction("advance@1", ADVANCING, _judged, grading.advance),
        Reaction("publish@1", (ScoreComputed,), _epoch, grading.publish),
    ),
    effects=(
        Effect("preflight", RunPreflightRequested, preflight.due, preflight.check),
        Effect("chunks", GradingChunkQueued, judge.chunk_due, judge.review_chunk, slots=8),
        Effect("facts", GradingFactsRequested, judge.facts_due, judge.extract_facts, slots=8),
    ),
)
