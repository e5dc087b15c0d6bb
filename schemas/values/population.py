"""Rows about agents. A list of them is a blob beside the event, never inside it."""

from decimal import Decimal
from typing import Literal

from schemas.base import Value
from schemas.refs import Sha256

Outcome = Literal["success", "failed"]
Cohort = Literal["elite", "middle", "culled"]


class Member(Value):
    """An agent of the population at the start of an epoch. `state`: tree SHA-256 or null."""

    agent: str
    genome: Sha256
    state: Sha256 | None = None


class AttemptRow(Value):
    """How one attempt of an epoch ended; `evidence` is the SHA-256 of its sealed tree."""

    agent: str
    attempt: str
    outcome: str
    evidence: Sha256 | None = None


class RankedRow(Value):
    """One line of a leaderboard. `tie_break` orders equal scores."""

    rank: int
    agent: str
    genome: Sha256
    outcome: Outcome
    score: Decimal
    tie_break: Decimal


class CohortRow(Value):
    agent: str
    cohort: Cohort


class ChangeRow(Value):
    """One line of a turnover: what happened to an agent."""

    agent: str
    change: Literal["archived", "born", "mutated"]
    genome: Sha256 | None = None
