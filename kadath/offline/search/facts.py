"""What was measured about an attempt, as far as it steers a mutation."""

import re
from dataclasses import dataclass

IDLE = 1e-5
"""A stage that gained less did nothing."""


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
        """It gained nothing."""
        return self.gain <= IDLE


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
        answer=_pairs(measured.get("answer")),
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


def _pairs(answer: object) -> tuple[tuple[float, ...], ...]:
    """The first two numbers of every row of an answer, coarse; nothing when it has no rows."""
    rows = answer if isinstance(answer, list) else []
    pairs = [tuple(round(item, 3) for item in row[:2]) for row in rows if _is_row(row)]
    return tuple(pairs) if len(pairs) == len(rows) else ()


def _is_row(row: object) -> bool:
    return isinstance(row, list) and all(isinstance(item, int | float) for item in row)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
