"""The evolver: generation one, cohorts, reflection, briefs, births, the turnover."""

from collections.abc import Iterable

from schemas import Recorded, ids
from schemas.events.attempt import AttemptFinished
from schemas.events.birth import (
    BirthMutationDrafted,
    BirthRequested,
    BirthSettled,
)
from schemas.events.brief import (
    BriefDossierQueued,
    BriefDossierReviewed,
    BriefIssued,
    BriefRefused,
    BriefRequested,
)
from schemas.events.epoch import EpochSelectionRequested
from schemas.events.genesis import GenesisBatchFailed, GenesisBatchQueued, GenesisVariantsDrafted
from schemas.events.genome import GenomeCommitted, GenomeRejected
from schemas.events.reflection import ReflectionProposed, ReflectionSettled
from schemas.events.run import RunGenesisRequested, RunResumed
from schemas.events.selection import SelectionCohortsAssigned
from services.evolver.core import birth, brief, genesis, reflection, selection
from services.evolver.core.view import HANDLES, View
from services.evolver.effects import draft_mutation as mutations
from services.evolver.effects import draft_variants as variants
from services.evolver.effects import issue_briefs as briefs
from services.kit.service import Effect, Reaction, Service


def _main(recorded: Recorded, view: View) -> Iterable[str]:
    return (ids.MAIN,)


def _epoch(recorded: Recorded, view: View) -> Iterable[str]:
    return (ids.epoch_id(view.selection.epoch),) if view.selection else ()


def _middle(recorded: Recorded, view: View) -> Iterable[str]:
    found = view.selection
    if found is None or found.cohorts is None:
        return ()
    return [f"{ids.epoch_id(found.epoch)}-{agent}" for agent in found.cohorts.middle]


def _reflecting(recorded: Recorded, view: View) -> Iterable[str]:
    """The reflection that an attempt, a proposal or the reflection itself belongs to."""
    if isinstance(recorded.data, RunResumed):
        return list(view.selection.reflections) if view.selection else ()
    if isinstance(recorded.data, AttemptFinished):
        found = ids.reflection_of(recorded.entity_id)
        return (found,) if found else ()
    name = recorded.entity_id
    return (name.removeprefix("r-"),) if name.startswith(("r-", "e")) else ()


def _newborns(recorded: Recorded, view: View) -> Iterable[str]:
    found = view.selection
    if found is None or found.cohorts is None:
        return ()
    slots = birth.slots(view, found)
    return [f"{ids.epoch_id(found.epoch)}-{slot.agent}" for slot in slots]


def _births(recorded: Recorded, view: View) -> Iterable[str]:
    """`b-e002-a0009-0` is a proposal for the birth `e002-a0009`."""
    if isinstance(recorded.data, RunResumed):
        return list(view.selection.births) if view.selection else ()
    name = recorded.entity_id
    if name.startswith("b-"):
        return (name.removeprefix("b-").rpartition("-")[0],)
    return (name,) if isinstance(recorded.data, BirthMutationDrafted) else ()


GENESIS = (
    RunGenesisRequested, GenesisVariantsDrafted, GenesisBatchFailed, GenomeCommitted,
)  # fmt: skip
BRIEFING = (SelectionCohortsAssigned, BriefDossierReviewed, BriefRefused, RunResumed)
SETTLING = (AttemptFinished, ReflectionProposed, GenomeCommitted, GenomeRejected, RunResumed)
BIRTHS = (BirthMutationDrafted, GenomeCommitted, GenomeRejected, RunResumed)
SETTLED = (ReflectionSettled, BirthSettled, SelectionCohortsAssigned)

SERVICE = Service(
    name="evolver",
    view=View,
    handles=HANDLES,
    reactions=(
        Reaction("genesis@1", GENESIS, _main, genesis.advance),
        Reaction("genesis_resume@1", (RunResumed,), _main, genesis.resume),
        Reaction("assign@1", (EpochSelectionRequested,), _epoch, selection.assign),
        Reaction("reflect@1", (SelectionCohortsAssigned,), _middle, reflection.request),
        Reaction("settle@1", SETTLING, _reflecting, reflection.settle),
        Reaction("brief@1", BRIEFING, _epoch, brief.advance),
        Reaction("birth@1", (SelectionCohortsAssigned, BriefIssued), _newborns, birth.request),
        Reaction("birth_advance@1", BIRTHS, _births, birth.advance),
        Reaction("turn_over@1", SETTLED, _epoch, selection.turn_over),
    ),
    effects=(
        Effect("variants", GenesisBatchQueued, variants.due, variants.draft_variants),
        Effect("dossiers", BriefDossierQueued, briefs.dossier_due, briefs.review_dossier),
        Effect("briefs", BriefRequested, briefs.brief_due, briefs.issue_briefs),
        Effect("births", BirthRequested, mutations.due, mutations.draft_mutation, slots=8),
    ),
)
