"""Who is before whom: success, score, tie-break, then the lower agent number."""

from collections.abc import Iterable

from schemas.events.score import ScoreComputed
from schemas.ids import agent_number
from schemas.values.population import RankedRow


def rank(scores: Iterable[ScoreComputed]) -> list[RankedRow]:
    """Best first, ranks from 1."""
    ordered = sorted(scores, key=_order)
    return [
        RankedRow(
            rank=position,
            agent=s.agent,
            genome=s.genome,
            outcome=s.outcome,
            score=s.score,
            tie_break=s.tie_break,
        )
        for position, s in enumerate(ordered, start=1)
    ]


def _order(s: ScoreComputed) -> tuple[bool, object, object, int]:
    return (s.outcome != "success", -s.score, -s.tie_break, agent_number(s.agent))
