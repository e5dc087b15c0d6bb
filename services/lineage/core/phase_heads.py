"""When the head of the chain becomes an event: once after every phase boundary."""

from datetime import datetime

from schemas import Draft
from schemas.events.chain import ChainHeaded
from services.lineage.core.view import View


def decide(view: View, about: str, now: datetime) -> list[Draft]:
    """Name the head that covers everything this decision has seen."""
    if view.boundary_seq <= view.headed_up_to:
        return []
    headed = ChainHeaded(head=view.chain_head, up_to_seq=view.seq, events=view.count)
    return [Draft("main", headed, view.epoch)]
