"""Lineage: genomes and their ancestry, the chain over the log, read models, exports."""

from collections.abc import Iterable

from schemas import Recorded
from schemas.commands.export import ExportRun
from schemas.events.attempt import AttemptFinished
from schemas.events.birth import BirthMutationDrafted
from schemas.events.export import ExportRequested
from schemas.events.genesis import GenesisVariantsDrafted
from schemas.events.genome import GenomeCommitted, GenomeRejected, GenomeStaged
from schemas.events.reflection import ReflectionProposed
from schemas.events.run import RunLocked, RunPreflightRequested
from services.kit.service import Effect, Handler, Reaction, Service
from services.lineage.core import exporting, phase_heads, registration, table
from services.lineage.core.view import BOUNDARIES, HANDLES, View
from services.lineage.effects import export, git, seed
from services.lineage.effects.start import start


def waiting(recorded: Recorded, view: View) -> Iterable[str]:
    return ["main"] if registration.due(view) else []


SERVICE = Service(
    name="lineage",
    view=View,
    handles=HANDLES,
    reactions=(
        Reaction(
            table.REGISTER,
            (
                RunLocked, GenesisVariantsDrafted, ReflectionProposed, BirthMutationDrafted,
                AttemptFinished, GenomeStaged, GenomeCommitted, GenomeRejected,
            ),
            waiting,
            registration.decide,
        ),
        Reaction(table.HEAD, BOUNDARIES, lambda recorded, view: ["main"], phase_heads.decide),
    ),
    effects=(
        Effect("seed", RunPreflightRequested, seed.due, seed.check, slots=2),
        Effect("git", GenomeCommitted, lambda view, recorded: True, git.draw, slots=4),
        Effect("export", ExportRequested, export.due, export.export, slots=1),
    ),
    commands=(Handler(ExportRun, exporting.request),),
    start=start,
)  # fmt: skip
