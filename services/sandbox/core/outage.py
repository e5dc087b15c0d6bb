"""Whose fault was it that a model did not answer? The provider's, if nobody else was answered."""

from collections import defaultdict
from dataclasses import dataclass

from schemas import Recorded
from schemas.events.model_call import ModelCallFailed, ModelCallRecorded

FAULTS = ("timeout", "rate", "provider")
GIVEN_UP = 5
"""Faults in a row after which a caller has given up; the broker tries a call as often."""


@dataclass
class Served:
    """How the provider treated one attempt; a row of faults begins at the event `since`."""

    answers: int = 0
    faults: int = 0
    since: int = 0
    others_answered: bool = False


class Outage:
    """What the log says about every live attempt's calls. An organism cannot write any of it."""

    def __init__(self) -> None:
        self._served: dict[str, Served] = defaultdict(Served)
        self._last_answer: dict[str, int] = {}

    def apply(self, recorded: Recorded) -> None:
        """Fold one event about a call."""
        match recorded.data:
            case ModelCallRecorded() as data:
                self._last_answer[data.model] = recorded.seq
                if data.caller.attempt:
                    served = self._served[data.caller.attempt]
                    served.answers, served.faults = served.answers + 1, 0
            case ModelCallFailed() as data if data.caller.attempt and _is_fault(data):
                self._fault(self._served[data.caller.attempt], data.model, recorded.seq)

    def _fault(self, served: Served, model: str, seq: int) -> None:
        if not served.faults:
            served.since = seq
        served.faults += 1
        served.others_answered = self._last_answer.get(model, 0) > served.since

    def unserved(self, attempt: str) -> bool:
        """It ended without a model: never answered or given up, and nobody else fared better.

        That others are answered meanwhile shows that the provider works: then a request that
        always fails is its author's own affair, and cannot hold up a run.
        """
        served = self._served.get(attempt)
        if served is None or not served.faults or served.others_answered:
            return False
        return served.answers == 0 or served.faults >= GIVEN_UP

    def start(self, attempt: str) -> None:
        """A new start has a new row of faults; answers of before are replayed to it."""
        self._served[attempt].faults = 0

    def keep(self, attempts: set[str]) -> None:
        """Forget all others."""
        for attempt in set(self._served) - attempts:
            del self._served[attempt]


def _is_fault(data: ModelCallFailed) -> bool:
    return data.retryable and data.kind in FAULTS
