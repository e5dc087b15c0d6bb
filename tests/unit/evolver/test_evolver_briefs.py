"""The Tweaker's dossiers and briefs."""

import json

from schemas.events.brief import BriefRefused
from schemas.events.run import RunResumed
from schemas.events.selection import SelectionAbandoned
from schemas.values.answers import Briefs, DossierNotes, Finding, ParentBrief
from services.evolver.core import brief
from services.evolver.core.brief import Fragment
from services.evolver.core.view import View
from tests.support.given import START, Past, agents, facts, kinds
from tests.unit.evolver.graded import assigned, dossiers, graded, issued, reflecting, reviewed


def advance(past: Past[View]):
    return brief.advance(past.view, "e001", START)


def refuse(past: Past[View], stage: str, part: int = 0, tries: int = 1) -> Past[View]:
    event = BriefRefused(stage=stage, part=part, tries=tries, violations=(), call="c")
    return past.given(event, of="e001")


def asked(*args: int) -> Past[View]:
    past = dossiers(*args)
    reviewed(past, *past.view.selection.dossiers)
    return past.then(advance(past))


def test_every_ranked_agent_has_a_dossier_in_parts_of_sixteen():
    """With its facts; bounded text."""
    past = assigned(20)
    drafts = advance(past)
    assert [(d.part, d.of, d.count) for d in facts(drafts)] == [(0, 2, 16), (1, 2, 4)]
    first = json.loads(drafts[0].blobs[0])[0]
    assert first["id"] == "a0001#0"
    assert json.loads(first["text"])["measured"] == {"value": 1}
    assert advance(past.then(drafts)) == []


def test_nobody_is_briefed_when_nothing_descends_from_an_elite():
    """Before cohorts, and in the random control."""
    assert advance(graded()) == []
    assert advance(Past(View)) == []
    assert advance(assigned(strategy={"name": "random"})) == []


def test_briefs_are_asked_for_when_every_part_is_reviewed():
    """Once, until they are issued."""
    past = reviewed(dossiers(20), 0)
    assert advance(past) == []
    drafts = advance(reviewed(past, 1))
    assert [(d.data.type, d.data.births) for d in drafts] == [("brief.requested", 6)]
    assert advance(past.then(drafts)) == []
    assert advance(issued(("a0001", 3))) == []


def test_every_refused_part_is_asked_again():
    """Two refusals that come before the next decision are both answered."""
    past = refuse(refuse(dossiers(20), "dossier", 1), "dossier", 0, 2)
    drafts = advance(past)
    assert [(d.part, d.tries) for d in facts(drafts)] == [(0, 2), (1, 1)]
    assert advance(past.then(drafts)) == []


def test_refused_briefs_are_asked_again():
    """With the violations of the last answer."""
    past = refuse(asked(), "briefs")
    drafts = advance(past)
    assert [(d.data.type, d.data.tries) for d in drafts] == [("brief.requested", 1)]
    assert advance(past.then(drafts)) == []


def test_three_refusals_abandon_the_selection_until_a_resume():
    """Then what is unanswered is asked again."""
    past = refuse(asked(), "briefs", tries=3)
    drafts = advance(past)
    assert kinds(drafts) == ["selection.abandoned"]
    assert advance(past.then(drafts)) == []
    drafts = advance(past.given(RunResumed()))
    assert [(d.data.type, d.data.tries) for d in drafts] == [("brief.requested", 1)]
    assert advance(past.then(drafts)) == []


def test_a_resume_asks_again_only_for_parts_without_an_answer():
    """Reviewed parts stay reviewed."""
    past = reviewed(dossiers(20), 0)
    gone = SelectionAbandoned(epoch=1, stage="dossier", reason="x")
    past.given(gone, of="e001").given(RunResumed())
    assert [(d.part, d.tries) for d in facts(advance(past))] == [(1, 1)]
    untouched = reviewed(dossiers(20), 0).given(RunResumed())
    assert advance(untouched) == []


def test_open_births_are_unanswered_too():
    """They are asked again by their own rule."""
    past = reflecting()
    assert {"e001-a0011", "e001-a0012", "e001-a0013"} == past.view.selection.unanswered()


def notes(*covered: str, agent: str = "a0001") -> DossierNotes:
    return DossierNotes(covered_fragment_ids=covered, findings=(Finding(agent=agent, finding="f"),))


def test_every_dossier_is_covered_exactly_once():
    """Missing, unknown and repeated ones are named; findings are about agents of the part."""
    parts = [Fragment(id=f"{a}#0", agent=a, text="x") for a in agents(2)]
    assert brief.dossier_violations(notes("a0001#0", "a0002#0"), parts) == []
    found = brief.dossier_violations(notes("a0001#0", "a0001#0", "x", agent="a0009"), parts)
    assert [v.message for v in found] == [
        "a0002#0 is missing",
        "x is unknown",
        "a0001#0 stands twice",
        "a0009 is unknown",
    ]


def broken(births: int, *parents: tuple[str, int, str]) -> list[str]:
    found = Briefs(
        elite_characteristics=(),
        parents=tuple(ParentBrief(agent=a, children=n, brief=b) for a, n, b in parents),
    )
    return [v.message for v in brief.brief_violations(found, ["a0001", "a0002"], births)]


def test_the_children_of_all_parents_are_the_births():
    """Each parent is an elite, stands once, has a brief and at most half of the children."""
    assert broken(3, ("a0001", 2, "x"), ("a0002", 1, "x")) == []
    assert broken(3, ("a0001", 1, "x"), ("a0002", 1, "x")) == [
        "children must total 3, but they total 2"
    ]
    assert broken(3, ("a0001", 3, "x")) == ["at most 2 are allowed"]
    assert broken(2, ("a0001", 1, "x"), ("a0009", 1, " ")) == [
        "a0009 is no elite",
        "must not be blank",
    ]
    assert broken(2, ("a0001", 1, "x"), ("a0001", 1, "x")) == ["a0001 stands more than once"]
