"""When to stop: the signal or the time to finalise, and the hard stop before the deadline."""

import signal
import time
from pathlib import Path
from types import FrameType

from kadath_runtime.task import Task

MARGIN_SECONDS = 5.0


class Stop(BaseException):
    """Ends all work now, whatever it waits for; no `Exception`, so that nothing swallows it."""


class Horizon:
    """How much time is left; `finalizing` is the kernel's wish, the hard stop is our own."""

    def __init__(self, task: Task, signals: Path, now: float):
        self._signal = signals / "finalize"
        self._finalize_at, self._started_at = task.finalize_at, now
        # The window after finalize_at may be short: most of it must stay for the last records.
        margin = max(0.5, min(MARGIN_SECONDS, 0.4 * (task.deadline_at - task.finalize_at)))
        self.hard_stop = task.deadline_at - margin

    def finalizing(self) -> bool:
        return time.time() >= self._finalize_at or self._signal.exists()

    def seconds_left(self) -> float:
        """Until the hard stop, never negative."""
        return max(0.0, self.hard_stop - time.time())

    def used_share(self) -> float:
        """Of the time between the start and finalize_at."""
        span = max(1e-6, self._finalize_at - self._started_at)
        return min(1.0, max(0.0, (time.time() - self._started_at) / span))

    def arm(self) -> None:
        """From now on SIGTERM and the hard stop raise `Stop` in the main thread."""
        signal.signal(signal.SIGTERM, _stop)
        signal.signal(signal.SIGALRM, _stop)
        signal.setitimer(signal.ITIMER_REAL, max(0.001, self.seconds_left()))

    @staticmethod
    def disarm() -> None:
        """The last records are written undisturbed."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _stop(number: int, frame: FrameType | None) -> None:
    # Raised where exceptions are dropped (a destructor), the first one is lost: so it comes again.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    raise Stop("terminated" if number == signal.SIGTERM else "deadline")
