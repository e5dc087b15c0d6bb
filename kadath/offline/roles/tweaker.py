"""Tweaker: what the measured facts say about the elite, as briefs for its children."""

from kadath.offline.request import Json
from kadath.offline.search.facts import IDLE, facts_of
from schemas.values.answers import Briefs, DossierNotes, Finding, ParentBrief

MAX_LINES = 12


def dossier(question: Json) -> DossierNotes:
    """Every fragment is covered; its first line stands for it."""
    fragments = question["fragments"]
    findings = tuple(
        Finding(agent=str(item["agent"]), finding=_first_line(item.get("text", "")))
        for item in fragments
    )
    ids = tuple(str(item["id"]) for item in fragments)
    return DossierNotes(covered_fragment_ids=ids, findings=findings)


def briefs(question: Json) -> Briefs:
    """Births go round the elites in rank order: nobody has more than half, rounded up."""
    elites = [str(agent) for agent in question["elites"]]
    births = int(question["births"])
    rows = {str(row["agent"]): row for row in question["ranked"]}
    shares = {agent: 0 for agent in elites}
    for birth in range(births if elites else 0):
        shares[elites[birth % len(elites)]] += 1
    parents = tuple(
        ParentBrief(agent=agent, children=count, brief=_brief(rows.get(agent, {})))
        for agent, count in shares.items()
        if count
    )
    good, bad = _patterns(question["ranked"])
    return Briefs(
        elite_characteristics=tuple(f"{agent}: {_brief(rows.get(agent, {}))}" for agent in elites),
        successful_patterns=good,
        failed_patterns=bad,
        parents=parents,
    )


def _brief(row: Json) -> str:
    facts = facts_of(row.get("measured"))
    if not facts.valid:
        return "The answer was not valid: take parts out."
    if not facts.stages:
        return "No search stage: add one."
    lines = [f"{facts.used:.0%} of the work budget used."]
    for stage in facts.stages:
        found = f"gained {stage.gain:.6g}" if stage.gain > IDLE else "gained nothing"
        lines.append(f"{stage.kind} {found} in {stage.ticks} ticks.")
    return " ".join(lines)[:2000]


def _patterns(ranked: list[Json]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Kinds of stage that gained anywhere, and those that never did."""
    best: dict[str, float] = {}
    for row in ranked:
        for stage in facts_of(row.get("measured")).stages:
            best[stage.kind] = max(stage.gain, best.get(stage.kind, 0.0))
    ordered = sorted(best.items(), key=lambda item: (-item[1], item[0]))
    good = tuple(f"{kind} gained up to {gain:.6g}" for kind, gain in ordered if gain > IDLE)
    bad = tuple(f"{kind} gained nothing" for kind, gain in ordered if gain <= IDLE)
    return good[:MAX_LINES], bad[:MAX_LINES]


def _first_line(text: object) -> str:
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    return lines[0][:400] if lines else "nothing on record"
