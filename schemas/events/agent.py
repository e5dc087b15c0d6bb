"""An agent of the population. Owner: evolver. Id: the agent."""

from typing import Literal

from schemas.base import Event
from schemas.refs import Sha256


class AgentBorn(Event):
    """`memory_from` is the agent whose records it inherits, up to `memory_seq`."""

    type = "agent.born"
    agent: str
    genome: Sha256
    clone: bool = False
    parent: str | None = None
    parent_genome: Sha256 | None = None
    birth_epoch: int
    state: Sha256 | None = None
    memory_from: str | None = None
    memory_seq: int = 0


class AgentGenomeActivated(Event):
    type = "agent.genome_activated"
    agent: str
    previous: Sha256
    genome: Sha256
    epoch: int
    because: Literal["reflection"] = "reflection"


class AgentArchived(Event):
    type = "agent.archived"
    agent: str
    epoch: int
    rank: int
    because: Literal["failed", "rank"]
