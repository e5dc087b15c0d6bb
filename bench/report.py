"""One line a figure: NAME VALUE BAR ok|short."""

import sys
from typing import Literal, NamedTuple


class Figure(NamedTuple):
    """`better` says on which side of `bar` the value must lie."""

    name: str
    value: float
    bar: float
    better: Literal["higher", "lower"]

    @property
    def ok(self) -> bool:
        return self.value >= self.bar if self.better == "higher" else self.value <= self.bar


def show(figures: list[Figure]) -> None:
    for figure in figures:
        sign = ">=" if figure.better == "higher" else "<="
        verdict = "ok" if figure.ok else "short"
        print(
            f"{figure.name:<44} {figure.value:10.3f} {sign}{figure.bar:<8g} {verdict}", flush=True
        )


def finish(figures: list[Figure]) -> None:
    sys.exit(any(not figure.ok for figure in figures))
