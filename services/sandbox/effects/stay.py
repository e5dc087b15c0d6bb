"""What a sandbox is given for one stay: mounts, environment, task, limits."""

import json
from pathlib import Path
from typing import NamedTuple

from schemas import canonical
from schemas.commands.complete import Token
from schemas.events.attempt import AttemptQueued, AttemptStarted
from services.kit.engine import Context
from services.sandbox.core.queueing import program_of
from services.sandbox.core.view import View
from services.sandbox.effects.control import backend_of
from services.sandbox.effects.places import Places
from services.sandbox.port import Mount, Spec

PYTHON = "/usr/bin/python3"


class Stay(NamedTuple):
    """One start of one attempt."""

    name: str
    queued: AttemptQueued
    started: AttemptStarted
    spool: Path


async def organism(context: Context, view: View, stay: Stay, token: Token) -> Spec:
    """A genome at work: epoch, reflection or trial."""
    places: Places = context.resources["places"]
    queued = stay.queued
    tree = view.genomes.get(queued.genome or "", queued.genome or "")
    genome, pyc = await places.genome(tree)
    mounts = [
        Mount(genome, "/genome"),
        Mount(pyc, "/pyc"),
        Mount(await places.layer(), "/layer"),
    ]
    inputs = {"task.json": canonical(task(view, stay))}
    if queued.context is not None:
        found = context.blobs.get(queued.context)
        inputs["context/context.json"] = found
        mounts += await _elites(places, view, found)
    state = places.state(queued.state_in)
    if state is not None:
        backend_of(context, view).own(state)
    return Spec(
        name=stay.name,
        run=view.run,
        argv=(PYTHON, "/genome/organism.py"),
        env=environment(view, token),
        mounts=tuple(mounts),
        state=state,
        broker=Path(token.socket_dir),
        input=inputs,
        limits=queued.limits,
        finalize_at=stay.started.finalize_at.timestamp(),
        deadline_at=stay.started.deadline_at.timestamp(),
        spool=stay.spool,
    )


async def _elites(places: Places, view: View, content: bytes) -> list[Mount]:
    """A reflecting agent may read each elite's whole tree."""
    found = json.loads(content)
    trees = {elite["agent"]: view.genomes[elite["genome"]] for elite in found.get("elites", [])}
    return [Mount((await places.genome(t))[0], f"/elites/{agent}") for agent, t in trees.items()]


def environment(view: View, token: Token) -> dict[str, str]:
    """Everything the organism's process sees; plain values of the run come first."""
    plain = dict(view.request.env) if view.request else {}
    return plain | {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONPATH": "/genome:/layer",
        "PYTHONPYCACHEPREFIX": "/pyc",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OPENAI_BASE_URL": "http://127.0.0.1:8700/v1",
        "KADATH_TOKEN": token.token,
        "KADATH_TASK": "/input/task.json",
    }


def task(view: View, stay: Stay) -> dict[str, object]:
    """`/input/task.json`: the goal, the criterion and the bounds; no secret, no score."""
    request, benchmark, queued = view.request, view.benchmark, stay.queued
    assert request is not None and benchmark is not None
    return {
        "run": view.run,
        "agent": queued.agent or "trial",
        "attempt": queued.attempt,
        "genome": queued.genome,
        "purpose": queued.purpose,
        "epoch": view.epoch.epoch if view.epoch else 0,
        "goal": request.goal,
        "objective": benchmark.objective,
        "criterion": benchmark.metric,
        "model": request.models.organism,
        "tools": list(queued.tools),
        "limits": {"passes": queued.limits.passes, "steps": queued.limits.steps},
        "finalize_at": stay.started.finalize_at.timestamp(),
        "deadline_at": stay.started.deadline_at.timestamp(),
        "seed": queued.seed,
    }


async def measurement(context: Context, view: View, stay: Stay) -> Spec:
    """A program of the benchmark over frozen evidence: no state, no broker, no network."""
    places: Places = context.resources["places"]
    queued = stay.queued
    assert queued.program is not None and queued.evidence is not None
    assert view.benchmark is not None
    program = program_of(view, queued.program)
    evidence = await places.evidence(queued.evidence, view.benchmark.cumulative)
    facts = {
        "agent": queued.agent,
        "attempt": queued.attempt,
        "seed": queued.seed,
        "cumulative": view.benchmark.cumulative,
    }
    return Spec(
        name=stay.name,
        run=view.run,
        argv=resolved(program.argv),
        env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"},
        mounts=(Mount(await places.program(program), "/program"), Mount(evidence, "/evidence")),
        input={"measure.json": canonical(facts)},
        limits=queued.limits,
        finalize_at=stay.started.finalize_at.timestamp(),
        deadline_at=stay.started.deadline_at.timestamp(),
        spool=stay.spool,
        writable=False,
        cwd="/program",
    )


def resolved(argv: tuple[str, ...]) -> tuple[str, ...]:
    """`python3` is the sandbox's interpreter, wherever the benchmark was written."""
    return (PYTHON, *argv[1:]) if argv[0] in ("python3", "python") else argv
