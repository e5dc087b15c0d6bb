"""The sandbox: runs attempts in isolation and freezes what they leave."""

from collections.abc import Iterable

from schemas import Recorded, ids
from schemas.events.attempt import AttemptFinished, AttemptQueued, AttemptRestarted
from schemas.events.epoch import EpochOpened
from schemas.events.genome import GenomeStaged
from schemas.events.measurement import MeasurementRequested
from schemas.events.reflection import ReflectionRequested
from schemas.events.run import (
    RunCancelRequested,
    RunPauseRequested,
    RunPreflightRequested,
    RunResumed,
)
from services.kit.service import Effect, Reaction, Service
from services.sandbox.core import attempt, queueing
from services.sandbox.core.view import HANDLES, View
from services.sandbox.effects import control
from services.sandbox.effects.run_attempt import due, run_attempt


def _epoch(recorded: Recorded, view: View) -> Iterable[str]:
    return (ids.epoch_id(view.epoch.epoch),) if view.epoch else ()


def _measurements(recorded: Recorded, view: View) -> Iterable[str]:
    own = isinstance(recorded.data, MeasurementRequested)
    return (recorded.entity_id,) if own else list(view.measurements)


def _reflections(recorded: Recorded, view: View) -> Iterable[str]:
    tries = view.epoch.attempt_try if view.epoch else 1
    return [ids.reflection_attempt(key, tries) for key in view.reflections]


def _trials(recorded: Recorded, view: View) -> Iterable[str]:
    return [f"t-{proposal}" for proposal in view.staged]


def _self(recorded: Recorded, view: View) -> Iterable[str]:
    return (recorded.entity_id,)


def _attempts(recorded: Recorded, view: View) -> Iterable[str]:
    return list(view.attempts)


STOPS = (RunCancelRequested, RunPauseRequested)

SERVICE = Service(
    name="sandbox",
    view=View,
    handles=HANDLES,
    start=control.start,
    reactions=(
        Reaction("queue_epoch@1", (EpochOpened,), _epoch, queueing.queue_epoch),
        Reaction(
            "queue_measurement@1",
            (MeasurementRequested, RunResumed),
            _measurements,
            queueing.queue_measurement,
        ),
        Reaction(
            "queue_reflection@1",
            (ReflectionRequested, RunResumed),
            _reflections,
            queueing.queue_reflection,
        ),
        Reaction("queue_trial@1", (GenomeStaged, RunResumed), _trials, queueing.queue_trial),
        Reaction("restart_held@1", (RunResumed,), _attempts, attempt.restart_held),
        Reaction("cancel@1", STOPS, _attempts, attempt.cancel),
        Reaction("seal@1", (AttemptFinished,), _self, attempt.seal),
    ),
    effects=(
        Effect("preflight", RunPreflightRequested, control.preflight_due, control.preflight),
        Effect("attempts", AttemptQueued, due, run_attempt, slots=32),
        Effect("restarts", AttemptRestarted, due, run_attempt, slots=32),
        Effect("cancels", RunCancelRequested, control.stop_due, control.stop_attempts),
        Effect("pauses", RunPauseRequested, control.stop_due, control.stop_attempts),
    ),
)
