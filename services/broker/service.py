"""The broker: every model call, what a run may spend, and what its agents remember."""

from collections.abc import Iterable

from schemas import Recorded
from schemas.commands.complete import Complete, TokenFor
from schemas.events.attempt import AttemptFinished
from schemas.events.run import RunPreflightRequested
from services.broker.core import budget, table
from services.broker.core.view import HANDLES, View
from services.broker.effects import preflight
from services.broker.effects.complete import complete
from services.broker.effects.start import start
from services.broker.effects.token import token
from services.kit.service import Effect, Reaction, Rpc, Service


def _attempt(recorded: Recorded, view: View) -> Iterable[str]:
    return [recorded.entity_id]


SERVICE = Service(
    name="broker",
    view=View,
    handles=HANDLES,
    reactions=(Reaction(table.SETTLE, (AttemptFinished,), _attempt, budget.settle),),
    effects=(Effect("models", RunPreflightRequested, preflight.due, preflight.check, slots=2),),
    rpcs=(Rpc("complete", Complete, complete), Rpc("token", TokenFor, token)),
    start=start,
)
