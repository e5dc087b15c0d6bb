"""The hash chain over a run's events. Owner: lineage. Id: `main`."""

from schemas.base import Event
from schemas.refs import Sha256


class ChainHeaded(Event):
    """`head` covers every event of the run up to and including `up_to_seq`."""

    type = "chain.headed"
    head: Sha256
    up_to_seq: int
    events: int
