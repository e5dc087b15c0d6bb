"""Who won: the run's own verdict, or the best of its last board."""

from typing import NamedTuple

from schemas.canonical import listed
from schemas.values.population import RankedRow
from services.lineage.core.view import View


class Winner(NamedTuple):
    agent: str
    genome: str
    score: str
    epoch: int


def board(view: View, epoch: int) -> list[RankedRow]:
    return listed(view.read(view.boards[epoch].rows), RankedRow)


def winner(view: View) -> Winner | None:
    """None when nothing was ever ranked."""
    if not view.boards:
        return None
    last = max(view.boards)
    if view.completed is not None:
        best = view.completed.champion
        return Winner(best.agent, best.genome, str(best.score), last)
    rows = board(view, last)
    return Winner(rows[0].agent, rows[0].genome, str(rows[0].score), last) if rows else None
