"""The ledger of what a run may spend. Owner: broker. Id: the grant, or `main`."""

from decimal import Decimal

from schemas.base import Event


class BudgetReserved(Event):
    """A block set aside before any call of `grant`; drawn down in memory."""

    type = "budget.reserved"
    grant: str
    tokens: int
    calls: int
    usd: Decimal | None = None


class BudgetSettled(Event):
    """What the recorded calls of `grant` really used."""

    type = "budget.settled"
    grant: str
    tokens: int
    calls: int
    usd: Decimal | None = None


class BudgetExhausted(Event):
    type = "budget.exhausted"
    scope: str
    limit: str
    used: int
    cap: int
