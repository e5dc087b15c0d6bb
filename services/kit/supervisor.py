"""Child processes that never outlive their parent: readiness, uid drop, death signal."""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

logger = logging.getLogger(__name__)


class ChildFailed(RuntimeError):
    """A child process did not become ready; the message holds the end of its output."""


@dataclass(frozen=True)
class Unit:
    """A child: its command, the user it runs as, how to see it is ready, how to end it."""

    name: str
    argv: Sequence[str]
    ready: Callable[[], Awaitable[bool]]
    log: Path
    uid: int | None = None
    gid: int | None = None
    stop_signals: tuple[signal.Signals, ...] = (signal.SIGTERM,)
    ready_seconds: float = 30.0
    env: dict[str, str] = field(default_factory=dict)


class Supervisor:
    """Starts units in order and stops them in reverse. Spawn from the main thread only:
    the death signal follows the parent *thread*.

    `deaths` receives a line for each unit that ends without being asked to.
    """

    def __init__(self) -> None:
        self._children: list[tuple[Unit, asyncio.subprocess.Process]] = []
        self._watching: list[asyncio.Task[None]] = []
        self.deaths: asyncio.Queue[str] = asyncio.Queue()

    async def start(self, unit: Unit) -> asyncio.subprocess.Process:
        """Start one unit and wait until it is ready. Raises `ChildFailed`."""
        with open(unit.log, "ab") as log:
            process = await asyncio.create_subprocess_exec(
                *_guarded(unit),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", **unit.env},
                cwd="/",
            )
        self._children.append((unit, process))
        await self._until_ready(unit, process)
        self._watching.append(asyncio.create_task(self._watch(unit, process)))
        return process

    async def _watch(self, unit: Unit, process: asyncio.subprocess.Process) -> None:
        code = await process.wait()
        await self.deaths.put(f"{unit.name} ended with {code}: {_tail(unit.log)}")

    async def stop(self) -> None:
        for task in self._watching:
            task.cancel()
        for unit, process in reversed(self._children):
            await _end(unit, process)
        self._children.clear()

    async def _until_ready(self, unit: Unit, process: asyncio.subprocess.Process) -> None:
        deadline = asyncio.get_running_loop().time() + unit.ready_seconds
        pause = 0.01
        while not await unit.ready():
            if process.returncode is not None:
                raise ChildFailed(f"{unit.name} ended with {process.returncode}: {_tail(unit.log)}")
            if asyncio.get_running_loop().time() > deadline:
                raise ChildFailed(f"{unit.name} is not ready: {_tail(unit.log)}")
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.2)


def _guarded(unit: Unit) -> list[str]:
    """setpriv sets the death signal after dropping the uid, so both hold together."""
    drop = []
    if unit.uid is not None:
        drop = ["--reuid", str(unit.uid), "--regid", str(unit.gid), "--clear-groups"]
    return ["setpriv", "--pdeathsig", "KILL", *drop, "--", *unit.argv]


async def _end(unit: Unit, process: asyncio.subprocess.Process) -> None:
    for number in unit.stop_signals:
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), timeout=5)
            return
    logger.warning("%s does not stop; its death signal will end it", unit.name)


def _tail(log: Path) -> str:
    return log.read_bytes()[-2000:].decode(errors="replace").strip()
