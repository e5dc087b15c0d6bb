"""The Tweaker reads every ranked agent and says what the next generation should try."""

import json
from collections.abc import Sequence
from datetime import datetime

from schemas import Draft, Event, canonical, digest
from schemas.base import Value
from schemas.canonical import rows
from schemas.events.benchmark import Violation
from schemas.events.brief import BriefDossierQueued, BriefRefused, BriefRequested
from schemas.events.selection import SelectionAbandoned
from schemas.values.answers import Briefs, DossierNotes
from services.evolver.core.cohorts import most_children
from services.evolver.core.reflection import measured
from services.evolver.core.selection import board_of
from services.evolver.core.view import Selection, View

AGENTS_A_PART = 16
DOSSIER_CHARS = 6_000
TRIES = 3


class Fragment(Value):
    """One agent's dossier."""

    id: str
    agent: str
    text: str


def advance(view: View, about: str, now: datetime) -> list[Draft]:
    """Dossiers, then the briefs; refused answers are shown their violations."""
    selection = view.selecting(about)
    if selection is None or selection.cohorts is None or view.terminal or selection.abandoned:
        return []
    if selection.issued is not None or selection.closed or not needs_briefs(view, selection):
        return []
    if selection.refused:
        return _again(about, selection)
    if not selection.dossiers:
        return _queue(view, about, selection)
    if selection.retry:
        return _retry(about, selection)
    if len(selection.notes) < len(selection.dossiers) or selection.brief is not None:
        return []
    requested = BriefRequested(births=selection.cohorts.births)
    return [Draft(about, requested, selection.epoch)]


def needs_briefs(view: View, selection: Selection) -> bool:
    """Nobody is briefed when nothing is born, or when children ignore their parents."""
    assert view.request is not None and selection.cohorts is not None
    return selection.cohorts.births > 0 and view.request.strategy.name != "random"


def _queue(view: View, about: str, selection: Selection) -> list[Draft]:
    found = [_dossier(view, row.agent) for row in board_of(view)]
    parts = [found[n : n + AGENTS_A_PART] for n in range(0, len(found), AGENTS_A_PART)]
    drafts = []
    for number, part in enumerate(parts):
        listed = rows(part)
        queued = BriefDossierQueued(
            part=number,
            of=len(parts),
            fragments=listed.ref,
            count=listed.count,
            coverage=digest(canonical(sorted(f.id for f in part))),
        )
        drafts.append(Draft(about, queued, selection.epoch, (listed.content,)))
    return drafts


def _dossier(view: View, agent: str) -> Fragment:
    score = view.scores[agent]
    facts = {
        "outcome": score.outcome,
        "score": str(score.score),
        "criteria": [c.model_dump(mode="json") for c in score.criteria],
        "failures": score.failures,
        "fraud": score.fraud,
        "reason": score.reason,
        "measured": measured(view, agent),
        "parent": view.population[agent].parent,
        "born_in_epoch": view.population[agent].birth_epoch,
    }
    text = json.dumps(facts, sort_keys=True)[:DOSSIER_CHARS]
    return Fragment(id=f"{agent}#0", agent=agent, text=text)


def _again(about: str, selection: Selection) -> list[Draft]:
    refusals = [selection.refused[key] for key in sorted(selection.refused)]
    last = next((r for r in refusals if r.tries >= TRIES), None)
    if last is not None:
        reason = f"the Tweaker broke the {last.stage} contract {last.tries} times"
        gone = SelectionAbandoned(epoch=selection.epoch, stage=last.stage, reason=reason)
        return [Draft(about, gone, selection.epoch)]
    return [Draft(about, _asked_again(selection, r), selection.epoch) for r in refusals]


def _asked_again(selection: Selection, refused: BriefRefused) -> Event:
    if refused.stage == "dossier":
        return selection.dossiers[refused.part].model_copy(update={"tries": refused.tries})
    assert selection.brief is not None
    again = {"tries": refused.tries, "violations": refused.violations}
    return selection.brief.model_copy(update=again)


def _retry(about: str, selection: Selection) -> list[Draft]:
    """After a resume: whatever was asked and not answered is asked again."""
    parts = [d for n, d in sorted(selection.dossiers.items()) if f"part-{n}" in selection.retry]
    drafts = [
        Draft(about, d.model_copy(update={"tries": d.tries + 1}), selection.epoch) for d in parts
    ]
    if "brief" in selection.retry and selection.brief is not None:
        again = selection.brief.model_copy(update={"tries": selection.brief.tries + 1})
        drafts.append(Draft(about, again, selection.epoch))
    return drafts


def dossier_violations(notes: DossierNotes, fragments: Sequence[Fragment]) -> list[Violation]:
    """Every fragment covered exactly once; findings name agents of the part."""
    wanted, given = [f.id for f in fragments], list(notes.covered_fragment_ids)
    agents = {f.agent for f in fragments}
    found = [_broken("covered_fragment_ids", f"{x} is missing") for x in wanted if x not in given]
    found += [_broken("covered_fragment_ids", f"{x} is unknown") for x in given if x not in wanted]
    repeated = sorted({x for x in given if given.count(x) > 1})
    found += [_broken("covered_fragment_ids", f"{x} stands twice") for x in repeated]
    for index, finding in enumerate(notes.findings):
        if finding.agent not in agents:
            found.append(_broken(f"findings.{index}.agent", f"{finding.agent} is unknown"))
    return found


def brief_violations(briefs: Briefs, elite: Sequence[str], births: int) -> list[Violation]:
    """Parents are elites, named once, and their children add up to the births."""
    found = []
    total = sum(parent.children for parent in briefs.parents)
    if total != births:
        found.append(_broken("parents", f"children must total {births}, but they total {total}"))
    most = most_children(births, len(elite))
    names = [parent.agent for parent in briefs.parents]
    for index, parent in enumerate(briefs.parents):
        if parent.agent not in elite:
            found.append(_broken(f"parents.{index}.agent", f"{parent.agent} is no elite"))
        if parent.children > most:
            found.append(_broken(f"parents.{index}.children", f"at most {most} are allowed"))
        if not parent.brief.strip():
            found.append(_broken(f"parents.{index}.brief", "must not be blank"))
    repeated = sorted({name for name in names if names.count(name) > 1})
    return found + [_broken("parents", f"{name} stands more than once") for name in repeated]


def _broken(path: str, message: str) -> Violation:
    return Violation(path=path[:200], message=message[:500])
