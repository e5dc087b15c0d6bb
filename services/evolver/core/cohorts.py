"""30 / 40 / 30, with every rounding pinned: half up, failures are culled first."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from schemas.values.population import CohortRow, RankedRow

ELITE = CULL = Decimal("0.3")
RULE = "elite 3/10, cull 3/10, half up, failed first"


class Cohorts(NamedTuple):
    """Agents in rank order; `births` newborns replace the culled."""

    elite: tuple[str, ...]
    middle: tuple[str, ...]
    culled: tuple[str, ...]

    @property
    def births(self) -> int:
        return len(self.culled)

    def rows(self) -> list[CohortRow]:
        return [
            *(CohortRow(agent=a, cohort="elite") for a in self.elite),
            *(CohortRow(agent=a, cohort="middle") for a in self.middle),
            *(CohortRow(agent=a, cohort="culled") for a in self.culled),
        ]


def assign(board: Sequence[RankedRow], population: int) -> Cohorts:
    """Cohorts of a ranked board. Every failure is culled; successes only up to 30 %."""
    successes = [row.agent for row in board if row.outcome == "success"]
    failures = [row.agent for row in board if row.outcome != "success"]
    elite = successes[: min(share(population, ELITE), len(successes))]
    rest = successes[len(elite) :]
    low = min(max(0, share(population, CULL) - len(failures)), len(rest))
    middle, lowest = rest[: len(rest) - low], rest[len(rest) - low :]
    return Cohorts(tuple(elite), tuple(middle), (*lowest, *failures))


def replace_all_but_elite(board: Sequence[RankedRow], population: int) -> Cohorts:
    """The control: whoever is not elite is replaced, nobody adapts."""
    found = assign(board, population)
    return Cohorts(found.elite, (), (*found.middle, *found.culled))


def share(population: int, fraction: Decimal) -> int:
    """At least one; .5 rounds up, for every population."""
    exact = (fraction * population).quantize(Decimal(1), ROUND_HALF_UP)
    return max(1, int(exact))


def most_children(births: int, elites: int) -> int:
    """No parent has more than half of the births, rounded up, when there are two elites."""
    return births if elites < 2 else (births + 1) // 2
