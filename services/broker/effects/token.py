"""The RPC of the sandbox: a grant, its token and its socket, before an attempt starts."""

from schemas.base import Value
from schemas.commands import Refused
from schemas.commands.complete import Token, TokenFor
from services.broker.core import grant as grants
from services.broker.core import journal
from services.broker.core.view import View
from services.broker.gateway.doors import Doors
from services.kit.engine import Context


async def token(context: Context, ask: TokenFor) -> Value:
    """The grant is recorded before anything opens; asked again it is the same."""
    view: View = context.view(ask.run)
    reason = grants.refusal(view, ask)
    if reason:
        return Refused(reason=reason)
    grant = grants.grant_id(ask.run, ask.attempt, ask.restart)
    await context.transact(
        ask.run, "broker/token", lambda view, now: grants.issue(view, ask), about=grant
    )
    if grant not in view.grants:
        return Refused(reason=grants.refusal(view, ask) or "the grant was not recorded")
    doors: Doors = context.resources["doors"]
    caller = journal.organism(ask.attempt, view.crashes.get(ask.attempt, 0))
    door = await doors.open(ask, view.grants[grant], caller)
    return Token(grant=grant, token=doors.token(grant), socket_dir=str(door.folder))
