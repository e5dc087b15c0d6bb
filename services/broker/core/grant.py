"""The right of one start of one attempt to use the gateway."""

from datetime import UTC, datetime

from schemas import Draft, digest
from schemas.commands.complete import TokenFor
from schemas.events.budget import BudgetReserved
from schemas.events.grant import GrantIssued
from services.broker.core import budget
from services.broker.core.view import View

WORK = ("chat", "memory", "activity", "budget")
TRIAL = ("trial",)


def grant_id(run: str, attempt: str, restart: int) -> str:
    """Derived, so that a repeated request finds the same grant."""
    return f"g{digest(f'{run}/{attempt}/{restart}'.encode())[:31]}"


def refusal(view: View, ask: TokenFor) -> str | None:
    """Why no token may be given, or None."""
    if view.request is None:
        return "unknown run"
    if view.ended:
        return "the run has ended"
    if ask.attempt in view.finished:
        return "the attempt has finished"
    return None


def issue(view: View, ask: TokenFor) -> list[Draft]:
    """The grant and its block of the budget, once. A trial costs nothing and reserves nothing."""
    grant = grant_id(view.run, ask.attempt, ask.restart)
    if grant in view.grants or refusal(view, ask):
        return []
    trial = ask.purpose == "trial"
    issued = GrantIssued(
        grant=grant,
        attempt=ask.attempt,
        agent=ask.agent,
        genome=ask.genome,
        scopes=TRIAL if trial else (*WORK, *view.tools),
        expires_at=datetime.fromtimestamp(ask.expires_at, UTC),
    )
    drafts = [Draft(grant, issued, ask.epoch)]
    if not trial:
        block = budget.block(view)
        reserved = BudgetReserved(grant=grant, tokens=block.tokens, calls=block.calls)
        drafts.append(Draft(grant, reserved, ask.epoch))
    return drafts
