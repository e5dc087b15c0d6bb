"""The architect: turns a goal into a benchmark that a person or a policy approves."""

from collections.abc import Iterable

from schemas import Recorded, ids
from schemas.commands.benchmark import ApproveBenchmark, DeclineBenchmark, RequestRevision
from schemas.events.benchmark import BenchmarkDraftQueued
from services.architect.core import drafting
from services.architect.core.view import HANDLES, View
from services.architect.effects.draft import draft, due
from services.kit.service import Effect, Handler, Reaction, Service


def _main(recorded: Recorded, view: View) -> Iterable[str]:
    return (ids.MAIN,)


SERVICE = Service(
    name="architect",
    view=View,
    handles=HANDLES,
    reactions=(Reaction("advance@1", HANDLES, _main, drafting.advance),),
    effects=(Effect("draft", BenchmarkDraftQueued, due, draft, slots=4),),
    commands=(
        Handler(ApproveBenchmark, drafting.approve),
        Handler(DeclineBenchmark, drafting.decline),
        Handler(RequestRevision, drafting.revise),
    ),
)
