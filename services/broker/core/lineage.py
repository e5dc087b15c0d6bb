"""Whose memories an agent inherits: a chain of references, never copies."""

from typing import NamedTuple

from schemas.events.agent import AgentBorn


class Link(NamedTuple):
    """An agent in a chain, and the last stream sequence of its records that is inherited."""

    agent: str
    until: int


class _Birth(NamedTuple):
    source: str
    until: int


class Ancestry:
    """Who was born with whose memories."""

    def __init__(self) -> None:
        self._births: dict[str, _Birth] = {}

    def born(self, event: AgentBorn, seq: int) -> None:
        """A birth without a position inherits what was there when it happened."""
        if event.memory_from is not None:
            self._births[event.agent] = _Birth(event.memory_from, event.memory_seq or seq)

    def chain(self, agent: str) -> list[Link]:
        """The ancestors of an agent, nearest first; each bounded by all births after it."""
        links: list[Link] = []
        seen, until = {agent}, 1 << 62
        birth = self._births.get(agent)
        while birth is not None and birth.source not in seen:
            seen.add(birth.source)
            until = min(until, birth.until)
            links.append(Link(birth.source, until))
            birth = self._births.get(birth.source)
        return links
