"""Who gets an attempt: one entity each for epochs, measurements, reflections and trials."""

from datetime import datetime

from schemas import Draft
from schemas.canonical import listed
from schemas.events.attempt import AttemptQueued
from schemas.events.run import RunRequested
from schemas.ids import attempt_id, epoch_id, reflection_of, seed_of
from schemas.values.benchmark import Program
from schemas.values.population import Member
from schemas.values.runtime import Limits
from services.sandbox.core.view import View

TRIAL_SECONDS = 30


def queue_epoch(view: View, about: str, now: datetime) -> list[Draft]:
    """One atomic batch: an attempt for every agent that the epoch opened with."""
    epoch, request = view.epoch, view.request
    if epoch is None or request is None or view.stopping or view.terminal:
        return []
    if about != epoch_id(epoch.epoch):  # a doorbell of an earlier epoch, rung after a restart
        return []
    members = listed(view.read(epoch.agents), Member)
    drafts = []
    for member in members:
        attempt = attempt_id(epoch.epoch, epoch.attempt_try, member.agent)
        if attempt in view.attempts:
            return []
        queued = AttemptQueued(
            attempt=attempt,
            purpose="epoch",
            agent=member.agent,
            genome=member.genome,
            state_in=member.state,
            limits=request.limits,
            tools=view.benchmark.tools if view.benchmark else (),
            wall_seconds=epoch.attempt_seconds,
            finalize_seconds=epoch.finalize_seconds,
            seed=benchmark_seed(request),
        )
        drafts.append(Draft(attempt, queued, epoch.epoch))
    return drafts


def benchmark_seed(request: RunRequested) -> int:
    """The same for every agent and epoch, so that a genome's score is a function of it alone."""
    return seed_of(request.seed, "benchmark")


def queue_measurement(view: View, about: str, now: datetime) -> list[Draft]:
    """A program of the benchmark over frozen evidence."""
    wanted = view.measurements.get(about)
    if wanted is None or _taken(view, about) or view.stopping or view.terminal:
        return []
    program = program_of(view, wanted.program)
    queued = AttemptQueued(
        attempt=about,
        purpose="measurement",
        agent=wanted.agent,
        program=wanted.program,
        evidence=wanted.evidence,
        limits=Limits(restarts=0),
        wall_seconds=program.timeout_seconds,
        finalize_seconds=0,
        seed=wanted.seed,
    )
    return [Draft(about, queued, _epoch(view))]


def program_of(view: View, program: str) -> Program:
    assert view.benchmark is not None
    return next(p for p in view.benchmark.programs if p.id == program)


def queue_reflection(view: View, about: str, now: datetime) -> list[Draft]:
    """A middle agent's own stay to rewrite itself, in its own state."""
    found = view.reflections.get(reflection_of(about) or "")
    if found is None or _taken(view, about) or view.stopping or view.terminal:
        return []
    assert view.request is not None and view.epoch is not None
    queued = AttemptQueued(
        attempt=about,
        purpose="reflection",
        agent=found.agent,
        genome=found.genome,
        state_in=found.state,
        context=found.context,
        limits=view.request.limits,
        tools=view.benchmark.tools if view.benchmark else (),
        wall_seconds=found.wall_seconds,
        finalize_seconds=max(2, found.wall_seconds // 10),
        seed=benchmark_seed(view.request),
    )
    return [Draft(about, queued, view.epoch.epoch)]


def queue_trial(view: View, about: str, now: datetime) -> list[Draft]:
    """A staged proposal that touches code must start before it is registered."""
    staged = view.staged.get(about.removeprefix("t-"))
    if staged is None or not staged.touches_code or _taken(view, about):
        return []
    if view.request is None or view.stopping or view.terminal:
        return []
    queued = AttemptQueued(
        attempt=about,
        purpose="trial",
        agent=None,
        genome=staged.tree.sha256,
        limits=view.request.limits.model_copy(update={"restarts": 0}),
        wall_seconds=TRIAL_SECONDS,
        finalize_seconds=2,
    )
    return [Draft(about, queued, _epoch(view))]


def _taken(view: View, about: str) -> bool:
    """Queued before; one that a pause cancelled may be queued again."""
    attempt = view.attempts.get(about)
    if attempt is None:
        return False
    return attempt.finished is None or attempt.finished.outcome != "cancelled"


def _epoch(view: View) -> int | None:
    return view.epoch.epoch if view.epoch else None
