"""One stay of one genome in a sandbox. Owner: sandbox. Id: `e003x1-a0012`.

Suffixes of the id: `-reflect`, `-m-<program>`; trials are `t-<proposal>`.
"""

from datetime import datetime
from typing import Literal

from schemas.base import Event
from schemas.refs import BlobRef, Sha256, TreeRef
from schemas.values.runtime import Limits

Purpose = Literal["epoch", "reflection", "measurement", "trial"]
CrashReason = Literal["exit", "oom", "quota", "lease_lost", "start_failed", "machine", "provider"]
INFRASTRUCTURE: tuple[CrashReason, ...] = ("lease_lost", "start_failed", "machine", "provider")
"""Faults that are not the agent's: they cost it neither a restart nor time, and cull nobody."""


class AttemptQueued(Event):
    """`genome` is the tree that runs; measurements run a program over `evidence` instead."""

    type = "attempt.queued"
    attempt: str
    purpose: Purpose
    agent: str | None = None
    genome: Sha256 | None = None
    state_in: Sha256 | None = None
    context: BlobRef | None = None
    program: str | None = None
    evidence: Sha256 | None = None
    limits: Limits
    tools: tuple[str, ...] = ()
    wall_seconds: int
    finalize_seconds: int
    seed: int = 0


class AttemptStarted(Event):
    type = "attempt.started"
    restart: int
    node: str
    started_at: datetime
    finalize_at: datetime
    deadline_at: datetime


class AttemptCrashed(Event):
    type = "attempt.crashed"
    restart: int
    reason: CrashReason
    exit_code: int | None = None
    log_tail: BlobRef | None = None
    detail: str = ""


class AttemptRestarted(Event):
    type = "attempt.restarted"
    restart: int
    seconds_left: float


class AttemptHeld(Event):
    """Trying again did not cure an infrastructure fault: the attempt waits for `run.resumed`."""

    type = "attempt.held"
    reason: CrashReason
    detail: str = ""


class AttemptFinished(Event):
    """`evidence` holds the `evidence.frozen` payload that follows; `result` is the program's
    output (measurement), the mutation (reflection) or the organism's result envelope."""

    type = "attempt.finished"
    outcome: Literal["completed", "failed", "deadline", "cancelled"]
    because: str = ""
    restarts: int = 0
    exit_code: int | None = None
    state_out: TreeRef | None = None
    result: BlobRef | None = None
    evidence: BlobRef | None = None
    log: BlobRef | None = None
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    memory_mb: float = 0.0
