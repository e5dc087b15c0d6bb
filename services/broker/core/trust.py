"""How far a record's author can be believed: from the ranks it has earned."""

from collections.abc import Sequence

from schemas.values.population import CohortRow

UNKNOWN = 0.25
MIDDLE = 0.65
LOWEST = 0.25


class Trust:
    """Trust by agent, and by agent and epoch."""

    def __init__(self) -> None:
        self._latest: dict[str, float] = {}
        self._at: dict[tuple[str, int], float] = {}

    def assign(self, epoch: int, rows: Sequence[CohortRow]) -> None:
        """`rows` in rank order: the best elite gets 1.0, the last 0.9."""
        elites = sum(row.cohort == "elite" for row in rows)
        rank = 0
        for row in rows:
            value = MIDDLE if row.cohort == "middle" else LOWEST
            if row.cohort == "elite":
                value = 1.0 - 0.10 * rank / max(1, elites - 1)
                rank += 1
            self._latest[row.agent] = self._at[row.agent, epoch] = value

    def of(self, agent: str, epoch: int | None = None) -> float:
        """In the epoch that made the record; else the latest; else unknown."""
        latest = self._latest.get(agent, UNKNOWN)
        return latest if epoch is None else self._at.get((agent, epoch), latest)
