"""What was measured about an attempt, as far as it steers a mutation."""

import re
from dataclasses import dataclass

IDLE = 1e-5
"""A stage that gained less did nothing."""
SETTLED = 0.004
"""What gains no more than this is near the end of what it can reach from here."""
ACCEPTABLE_LOSS = 0.003
"""A stage whose result loses more when it is made valid went too far."""


@dataclass(frozen=True)
class StageFact:
    """What one stage used and gained; `gain` counts upwards, whichever way is better.

    `loss` is what making the stage's result valid took away, as a part of its value.
    """

    kind: str
    gain: float
    ticks: int
    tried: int
    accepted: int
    loss: float = 0.0

    @property
    def idle(self) -> bool:
        """It gained nothing, and not because it was pressed so hard that its gain was lost."""
        return self.gain <= IDLE and self.loss <= ACCEPTABLE_LOSS


@dataclass(frozen=True)
class Facts:
    """The measured outcome of a program. Unmeasured: valid, with nothing known."""

    valid: bool = True
    value: float | None = None
    used: float = 1.0
    stages: tuple[StageFact, ...] = ()
    answer: tuple[tuple[float, ...], ...] = ()


def facts_of(measured: object) -> Facts:
    """Facts from a measuring program's answer; whatever is missing or odd is left out."""
    if not isinstance(measured, dict) or "valid" not in measured:
        return Facts()
    limit, ticks = _number(measured.get("limit")), _number(measured.get("ticks"))
    listed = measured.get("stages")
    stages = [_stage(item) for item in listed if isinstance(item, dict)] if listed else []
    return Facts(
        valid=measured["valid"] is True,
        value=_number(measured.get("value")),
        used=ticks / limit if limit else 1.0,
        stages=tuple(stages),
        answer=_rows(measured.get("answer")),
    )


def _stage(item: dict[str, object]) -> StageFact:
    return StageFact(
        kind=re.sub(r"_\d+$", "", str(item.get("name"))),
        gain=abs(_number(item.get("after")) - _number(item.get("before"))),
        ticks=int(_number(item.get("ticks"))),
        tried=int(_number(item.get("tried"))),
        accepted=int(_number(item.get("accepted"))),
        loss=_number(item.get("loss")),
    )


def _rows(answer: object) -> tuple[tuple[float, ...], ...]:
    """The rows of a measured answer; nothing when it is no list of rows of numbers."""
    rows = answer if isinstance(answer, list) else []
    return tuple(tuple(row) for row in rows) if all(_is_row(row) for row in rows) else ()


def _is_row(row: object) -> bool:
    return isinstance(row, list) and all(isinstance(item, int | float) for item in row)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
