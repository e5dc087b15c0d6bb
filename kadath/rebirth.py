"""A kernel whose nats-server or PostgreSQL died starts anew: all it knows is in the log."""

import contextlib
import logging
import os
import signal
import sys
import time
from pathlib import Path

from services.kit import telemetry
from services.kit.supervisor import ChildFailed, Supervisor

logger = logging.getLogger(__name__)

TRIES = 5
WITHIN_SECONDS = 60.0
DEATHS = "KADATH_DEATHS"


async def when_a_child_dies(supervisor: Supervisor) -> None:
    """Replace this process by a new one of the same number, so that whoever waits for it can.

    Raises `ChildFailed` when children keep dying.
    """
    told = await supervisor.deaths.get()
    logger.error("%s; the kernel starts anew", told)
    now = time.time()
    deaths = [*recent(os.environ.get(DEATHS, ""), now), now]
    if len(deaths) > TRIES:
        raise ChildFailed(f"{told} ({len(deaths)} deaths within {WITHIN_SECONDS:.0f} s)")
    telemetry.flush()
    await supervisor.stop()
    _kill_children()
    os.environ[DEATHS] = " ".join(map(str, deaths))
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def recent(deaths: str, now: float) -> list[float]:
    """Times of the deaths that still count."""
    return [at for at in map(float, deaths.split()) if now - at < WITHIN_SECONDS]


def _kill_children() -> None:
    """Sandboxes and the provider's process would outlive the change unowned."""
    for thread in Path("/proc/self/task").iterdir():
        for pid in (thread / "children").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
