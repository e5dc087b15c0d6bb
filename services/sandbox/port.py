"""The port to whatever runs an attempt: what goes in, what comes out.

No backend detail belongs here, and no rule about attempts: those are in `core/`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from schemas.values.runtime import Limits
from schemas.values.tree import Rejected, TreeFile

Reason = Literal["exit", "oom", "deadline", "stopped", "quota", "start_failed"]


class Mount(NamedTuple):
    """A host file or folder at `target`, always read-only, readable by the sandbox user."""

    source: Path
    target: str


class Gap(NamedTuple):
    """A limit that this machine does not let the backend enforce, and why."""

    limit: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One attempt. `name` and `run` match `[A-Za-z0-9._-]+`; env reaches the organism only."""

    name: str
    run: str
    argv: tuple[str, ...]
    limits: Limits
    finalize_at: float
    deadline_at: float
    spool: Path
    env: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    state: Path | None = None
    broker: Path | None = None
    input: Mapping[str, bytes] = field(default_factory=dict)
    stdout_limit: int = 1 << 20
    writable: bool = True
    cwd: str = "/state"


@dataclass(frozen=True, slots=True)
class Frozen:
    """What was left in `/state`; the bytes lie in `spool/<sha256>`. `omitted`: rejections uncounted
    in `rejected` because there were too many."""

    files: tuple[TreeFile, ...] = ()
    deleted: tuple[str, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    omitted: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How an attempt ended. `log` is the tail of stderr without control characters."""

    exit_code: int | None
    reason: Reason
    detail: str = ""
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    stdout: bytes = b""
    stdout_truncated: bool = False
    log: bytes = b""
    frozen: Frozen | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What this machine can enforce. Not `ok`: nothing may run, `reason` and the hint say why."""

    ok: bool
    enforced: tuple[str, ...] = ()
    not_enforced: tuple[Gap, ...] = ()
    reason: str = ""
    install_hint: str = ""


class Containers(Protocol):
    """Runs attempts in isolation. An end of any kind is an `Outcome`, never an exception."""

    async def probe(self) -> Probe:
        """Try everything once; later calls return the same answer."""
        ...

    async def run(self, spec: Spec) -> Outcome:
        """Run to the end; when the caller is cancelled, the attempt is killed."""
        ...

    async def stop(self, name: str) -> None:
        """Kill a running attempt; its `run` returns `stopped` without frozen files."""
        ...

    def identity(self) -> dict[str, str]:
        """What a preflight records of the backend: its name, and digests of what it runs."""
        ...

    def own(self, folder: Path) -> None:
        """Make a folder of an inherited state readable and owned as the backend needs it."""
        ...

    async def sweep(self, run: str | None, keep: set[str]) -> int:
        """Kill attempts of `run` (of all runs: None) but those named; how many there were."""
        ...
