"""How much is left of steps, time and the broker's limits, as NORMAL, TIGHT or CRITICAL."""

import time
from typing import Any, Literal

from kadath_runtime.gateway import Gateway
from kadath_runtime.horizon import Horizon

Level = Literal["NORMAL", "TIGHT", "CRITICAL"]
ORDER: tuple[Level, ...] = ("NORMAL", "TIGHT", "CRITICAL")
REFRESH_SECONDS = 5.0


def level(used_share: float) -> Level:
    """TIGHT from 60 %, CRITICAL from 85 %."""
    return "CRITICAL" if used_share >= 0.85 else "TIGHT" if used_share >= 0.6 else "NORMAL"


class Budget:
    """The worst of three levels; the broker's is asked at most every few seconds."""

    def __init__(self, horizon: Horizon, gateway: Gateway, steps: int):
        self._horizon, self._gateway, self._steps = horizon, gateway, steps
        self.step = 1
        self._broker: dict[str, Any] = {}
        self._asked_at = 0.0

    def levels(self) -> dict[str, Level]:
        """By name; what the model sees at each step. Words only: equal requests stay equal."""
        steps = level((self.step - 1) / max(1, self._steps))
        return {"steps": steps, "time": level(self._horizon.used_share()), "tokens": self._tokens()}

    def state(self) -> Level:
        return max(self.levels().values(), key=ORDER.index)

    def remaining(self) -> dict[str, Any]:
        """Everything known, with numbers."""
        levels = self.levels()
        return {
            "state": self.state(),
            "steps": {"level": levels["steps"], "step": self.step, "limit": self._steps},
            "time": {
                "level": levels["time"],
                "seconds_left": round(self._horizon.seconds_left(), 1),
            },
            "tokens": {"level": levels["tokens"]}
            | {k: self._broker[k] for k in ("used", "limits") if k in self._broker},
        }

    def _tokens(self) -> Level:
        # The first step asks nothing: nothing has been used yet.
        if self.step > 1 and time.monotonic() - self._asked_at >= REFRESH_SECONDS:
            self._asked_at = time.monotonic()
            answer = self._gateway.ask("GET", "/budget")
            self._broker = answer if isinstance(answer, dict) else {}
        state = self._broker.get("state")
        return state if state in ORDER else "NORMAL"
