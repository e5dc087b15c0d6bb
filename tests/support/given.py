"""Given: a past of events, folded as a service folds it. Knows every kind of event, no rule."""

import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Generic, Self, TypeVar

from schemas import Actor, BlobRef, Draft, Envelope, Event, GenomeRef, Recorded, TreeRef
from schemas.canonical import canonical, ref_of, rows
from schemas.events.attempt import AttemptFinished, AttemptQueued, AttemptStarted
from schemas.events.epoch import EpochExecutionClosed, EpochOpened
from schemas.events.evidence import EvidenceFrozen
from schemas.events.genome import GenomeCommitted
from schemas.events.leaderboard import LeaderboardPublished
from schemas.events.run import RunLocked, RunRequested
from schemas.events.score import ScoreComputed
from schemas.values.benchmark import (
    AntiFraud,
    Benchmark,
    Criterion,
    FailureRule,
    Instructions,
    Kernel,
    Measured,
    NumericLinear,
    Program,
    ProgramFile,
    RequiredOutput,
    ScoreRange,
    TieBreak,
)
from schemas.values.population import AttemptRow, Member, RankedRow
from schemas.values.runtime import Limits, Models, Runtime
from schemas.values.tree import Tree, TreeFile

RUN = "r20260101-000000-000001"
START = datetime(2026, 1, 1, tzinfo=UTC)
V = TypeVar("V")


def sha(name: object) -> str:
    """A hash of its own for every name."""
    return hashlib.sha256(str(name).encode()).hexdigest()


def git(name: object) -> str:
    return sha(name)[:40]


def agents(count: int, first: int = 1) -> list[str]:
    return [f"a{n:04d}" for n in range(first, first + count)]


def happened(
    run: str,
    event: Event,
    entity_id: str = "main",
    seq: int = 1,
    epoch: int | None = None,
    at: datetime = START,
) -> Recorded:
    """One event as the log holds it."""
    envelope = Envelope(
        id=f"{run}-{seq}",
        type=event.type,
        v=event.v,
        run=run,
        epoch=epoch,
        entity=event.entity(),
        entity_id=entity_id,
        occurred_at=at,
        seen=seq - 1,
        actor=Actor(kind="service", name="test"),
        by="test",
        data=event,
    )
    return Recorded(seq, envelope)


class Past(Generic[V]):
    """A fold and the blobs it may read. Each event comes a second after the one before."""

    def __init__(self, view: Callable[[str, Callable[[BlobRef], bytes]], V]) -> None:
        self.blobs: dict[str, bytes] = {}
        self.seq = 0
        self.now = START
        self.view: Any = view(RUN, lambda ref: self.blobs[ref.sha256])

    def keep(self, content: bytes, media: str = "application/json") -> BlobRef:
        ref = ref_of(content, media)
        self.blobs[ref.sha256] = content
        return ref

    def keep_tree(self, tree: Tree) -> TreeRef:
        ref = self.keep(canonical(tree))
        return TreeRef(sha256=ref.sha256, size=ref.size)

    def given(self, *events: Event, of: str = "main", epoch: int | None = None) -> Self:
        for event in events:
            self.seq += 1
            self.now += timedelta(seconds=1)
            self.view.apply(happened(RUN, event, of, self.seq, epoch, self.now))
        return self

    def then(self, drafts: Sequence[Draft]) -> Self:
        """What was decided became true."""
        for draft in drafts:
            for content in draft.blobs:
                self.keep(content)
            self.given(draft.data, of=draft.entity_id, epoch=draft.epoch)
        return self

    def later(self, seconds: float) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now


def facts(drafts: Any) -> list[Event]:
    """The events of drafts, without their places."""
    return [draft.data for draft in drafts]


def kinds(drafts: Any) -> list[str]:
    return [draft.data.type for draft in drafts]


def requested(**changes: Any) -> RunRequested:
    fields: dict[str, Any] = {
        "name": "test",
        "goal": "Find a large number.",
        "epochs": 2,
        "population": 4,
        "epoch_seconds": 60,
        "models": Models(specialist="big", organism="small", api_base="http://here/v1"),
        "seed": 7,
    }
    return RunRequested(**fields | changes)


def benchmark(**changes: Any) -> Benchmark:
    """Everything measured by one program, so that grading asks no model."""
    fields: dict[str, Any] = {
        "objective": "Find a large number.",
        "metric": "The number.",
        "attribution": "The agent's own candidate.",
        "baseline": "Nothing.",
        "score_range": ScoreRange(low=0, high=100),
        "criteria": (
            Criterion(
                id="value",
                description="How large.",
                weight=100,
                measurement=NumericLinear(direction="higher", minimum=0, target=10),
                source=Measured(provider="measure", pointer="/value"),
            ),
        ),
        "tie_breaks": (
            TieBreak(
                id="quick",
                description="Less time.",
                direction="lower",
                minimum=0,
                maximum=100,
                weight=1,
                source=Kernel(fact="wall_seconds"),
            ),
        ),
        "failures": (FailureRule(id="bad", condition="Invalid.", source=measured("/bad")),),
        "anti_fraud": (AntiFraud(id="honest", check="Own work.", source=measured("/honest")),),
        "required_outputs": (RequiredOutput(description="Answer.", evidence_ref="candidate"),),
        "evidence_requirements": ("The candidate.",),
        "grader_rules": ("Measure.",),
        "programs": (
            Program(
                id="measure",
                description="Measures.",
                files=(ProgramFile(path="measure.py", text="print({})"),),
                argv=("python3", "measure.py"),
            ),
        ),
        "instructions": Instructions(grader="Grade.", tweaker="Tweak.", birther="Bear."),
    }
    return Benchmark(**fields | changes)


def measured(pointer: str) -> Measured:
    return Measured(provider="measure", pointer=pointer)


def locked(past: Past[Any], contract: Benchmark | None = None) -> RunLocked:
    """Locks of the right shape; the scheduler's own tests make real ones."""
    runtime = Runtime(
        executor="local",
        models=Models(specialist="big", organism="small"),
        limits=Limits(),
        seed_sha=sha("seed"),
        layer_sha=sha("layer"),
        kernel_version="1",
    )
    return RunLocked(
        objective_sha=sha("objective"),
        benchmark=past.keep(canonical(contract or benchmark())),
        tool_manifest=past.keep(b"{}"),
        runtime=runtime,
        runtime_sha=sha("runtime"),
        formula_version="1",
        locks_sha=sha("locks"),
    )


def opened(
    past: Past[Any], names: Sequence[str], epoch: int = 1, attempt_try: int = 1
) -> EpochOpened:
    members = rows(Member(agent=a, genome=sha(f"genome {a}")) for a in names)
    past.keep(members.content)
    return EpochOpened(
        epoch=epoch,
        attempt_try=attempt_try,
        agents=members.ref,
        count=members.count,
        attempt_seconds=60,
        finalize_seconds=6,
        seed=11,
        locks_sha=sha("locks"),
    )


def queued(attempt: str, **changes: Any) -> AttemptQueued:
    fields: dict[str, Any] = {
        "attempt": attempt,
        "purpose": "epoch",
        "agent": attempt.split("-")[1],
        "genome": sha("genome"),
        "limits": Limits(),
        "wall_seconds": 60,
        "finalize_seconds": 6,
    }
    return AttemptQueued(**fields | changes)


def started(at: datetime, restart: int = 0, seconds: float = 60) -> AttemptStarted:
    deadline = at + timedelta(seconds=seconds)
    return AttemptStarted(
        restart=restart,
        node="node",
        started_at=at,
        finalize_at=deadline - timedelta(seconds=6),
        deadline_at=deadline,
    )


def finished(outcome: str = "completed", **changes: Any) -> AttemptFinished:
    fields: dict[str, Any] = {"outcome": outcome, "wall_seconds": 10.0, "restarts": 1}
    return AttemptFinished(**fields | changes)


def file(path: str, content: bytes = b"x", mark: Any = None) -> TreeFile:
    digest = hashlib.sha256(content).hexdigest()
    return TreeFile(path=path, size=len(content), sha256=digest, mark=mark)


def frozen(past: Past[Any], attempt: str, *files: TreeFile, **changes: Any) -> EvidenceFrozen:
    fields: dict[str, Any] = {
        "attempt": attempt,
        "agent": attempt.split("-")[1],
        "genome": sha(f"genome {attempt.split('-')[1]}"),
        "manifest": past.keep_tree(Tree(files=files)),
        "files": len(files),
        "bytes": sum(f.size for f in files),
        "new": sum(f.mark != "inherited" for f in files),
        "activity": 1,
        "candidate": past.keep(b"5"),
    }
    return EvidenceFrozen(**fields | changes)


def execution_closed(
    past: Past[Any], attempts: dict[str, str], epoch: int = 1
) -> EpochExecutionClosed:
    """`attempts`: attempt -> outcome."""
    listed = rows(
        AttemptRow(agent=a.split("-")[1], attempt=a, outcome=o) for a, o in attempts.items()
    )
    past.keep(listed.content)
    return EpochExecutionClosed(epoch=epoch, attempt_try=1, attempts=listed.ref, count=listed.count)


def scored(agent: str, score: str | int = 50, **changes: Any) -> ScoreComputed:
    fields: dict[str, Any] = {
        "attempt": f"e001x1-{agent}",
        "agent": agent,
        "genome": sha(f"genome {agent}"),
        "outcome": "success",
        "score": Decimal(score),
        "tie_break": Decimal(0),
        "criteria": (),
        "formula_version": "1",
    }
    return ScoreComputed(**fields | changes)


def board(successes: int, failures: int = 0) -> list[RankedRow]:
    """Ranked rows: the first `successes` agents succeeded, the others failed."""
    names = agents(successes + failures)
    return [
        RankedRow(
            rank=n,
            agent=name,
            genome=sha(f"genome {name}"),
            outcome="success" if n <= successes else "failed",
            score=Decimal(100 - n) if n <= successes else Decimal(0),
            tie_break=Decimal(0),
        )
        for n, name in enumerate(names, start=1)
    ]


def published(past: Past[Any], ranked: Sequence[RankedRow], epoch: int = 1) -> LeaderboardPublished:
    listed = rows(ranked)
    past.keep(listed.content)
    successes = sum(row.outcome == "success" for row in ranked)
    return LeaderboardPublished(
        epoch=epoch,
        attempt_try=1,
        rows=listed.ref,
        count=listed.count,
        successes=successes,
        failures=listed.count - successes,
    )


def committed(proposal: str, origin: Any = "genesis", genome: str | None = None) -> GenomeCommitted:
    ref = GenomeRef(
        genome=genome or sha(proposal),
        tree=git(proposal),
        commit=git(f"commit {proposal}"),
        files=TreeRef(sha256=sha(f"files {proposal}"), size=1),
        prompt_sha=sha("prompt"),
        runtime_sha=sha("runtime"),
    )
    return GenomeCommitted(
        proposal=proposal,
        genome=ref,
        branch=proposal,
        prompt=BlobRef(sha256=sha("prompt"), size=1),
        changed=(),
        origin=origin,
    )
