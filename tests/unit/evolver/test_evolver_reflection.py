"""A middle agent adapts by itself, or keeps the genome that was scored."""

import json

import pytest

from schemas import canonical
from schemas.events.agent import AgentArchived
from schemas.events.birth import BirthRequested
from schemas.events.brief import BriefIssued
from schemas.events.genome import GenomeRejected
from schemas.events.reflection import ReflectionProposed, ReflectionRequested
from services.evolver.core import reflection
from services.evolver.core.view import View
from tests.support.given import START, Past, committed, facts, finished, locked, sha
from tests.unit.evolver.graded import assigned, graded, reflecting

ABOUT = "e001-a0004"
ATTEMPT = "e001x1-a0004-reflect"


def settle(past: Past[View]):
    return reflection.settle(past.view, ABOUT, START)


def test_a_middle_agent_is_asked_once():
    """For at most five minutes, in its own state."""
    past = assigned()
    drafts = reflection.request(past.view, ABOUT, START)
    (event,) = facts(drafts)
    assert (60, sha("genome a0004"), True) == (
        event.wall_seconds,
        event.genome,
        event.state is not None,
    )
    assert reflection.request(past.then(drafts).view, ABOUT, START) == []


def test_elites_and_culled_agents_do_not_reflect():
    """Nor does anybody before the cohorts."""
    for view in (assigned().view, graded().view, Past(View).view):
        assert reflection.request(view, "e001-a0001", START) == []


def test_the_context_shows_board_elites_and_own_measurement():
    """Elite trees are mounted, not copied into the prompt."""
    (draft,) = reflection.request(assigned().view, ABOUT, START)
    found = json.loads(draft.blobs[0])
    assert (found["rank"], found["cohort"], found["measured"]) == (4, "middle", {"value": 4})
    assert len(found["board"]) == 10
    assert [elite["tree"] for elite in found["elites"]] == [
        "/elites/a0001",
        "/elites/a0002",
        "/elites/a0003",
    ]


def test_what_was_never_measured_is_an_empty_object():
    """The program may have failed."""
    assert reflection.measured(Past(View).view, "a0001") == {}


def done(mutation: object, outcome: str = "completed") -> Past[View]:
    past = reflecting()
    content = mutation if isinstance(mutation, bytes) else canonical(mutation)
    return past.given(finished(outcome, result=past.keep(content), because="x"), of=ATTEMPT)


def test_a_mutation_is_proposed_and_then_waits_for_lineage():
    """The proposal has the reflection's name."""
    past = done({"action": "mutate", "reason": "better", "prompt": "New."})
    drafts = settle(past)
    (event,) = facts(drafts)
    assert ("r-e001-a0004", sha("genome a0004"), "better") == (
        event.proposal,
        event.parent,
        event.reason,
    )
    assert settle(past.then(drafts)) == []


@pytest.mark.parametrize(
    ("mutation", "outcome", "because"),
    [
        ({"action": "unchanged", "reason": "fine"}, "completed", "chose"),
        ({"action": "explode"}, "completed", "invalid"),
        (b"{", "completed", "invalid"),
        ({"action": "mutate"}, "failed", "crashed"),
        ({"action": "mutate"}, "deadline", "crashed"),
    ],
)
def test_without_a_valid_mutation_the_scored_genome_stays(mutation, outcome, because):
    """For the reason given; a settled reflection settles once."""
    past = done(mutation, outcome)
    drafts = settle(past)
    (event,) = facts(drafts)
    assert (False, because, sha("genome a0004")) == (event.changed, event.because, event.genome)
    assert settle(past.then(drafts)) == []


def test_a_reflection_that_left_nothing_crashed():
    """No result is no mutation."""
    past = reflecting().given(finished(), of=ATTEMPT)
    assert [e.because for e in facts(settle(past))] == ["crashed"]


def test_a_cancelled_reflection_waits_for_its_repeat():
    """As does one that still runs."""
    assert settle(done({}, "cancelled")) == []
    assert settle(reflecting()) == []
    assert settle(Past(View)) == []


def proposed() -> Past[View]:
    past = done({"action": "mutate", "prompt": "New."})
    return past.then(settle(past))


def test_a_registered_mutation_is_activated_at_the_turnover():
    """With the genome that lineage made of it."""
    past = proposed().given(committed("r-e001-a0004", "reflection"), of="r-e001-a0004")
    (event,) = facts(settle(past))
    assert (True, "mutated", sha("r-e001-a0004")) == (event.changed, event.because, event.genome)


@pytest.mark.parametrize(
    ("reason", "because"),
    [
        ("duplicate", "duplicate"),
        ("no_change", "no_change"),
        ("trial_failed", "trial_failed"),
        ("unsafe_path", "invalid"),
        ("too_large", "invalid"),
    ],
)
def test_a_rejected_mutation_keeps_the_genome(reason, because):
    """Its reason is recorded."""
    no = GenomeRejected(proposal="r-e001-a0004", origin="reflection", reason=reason)
    past = proposed().given(no, of="r-e001-a0004")
    assert [(False, because)] == [(e.changed, e.because) for e in facts(settle(past))]


def test_facts_outside_a_selection_change_nothing():
    """They belong to a turnover that nobody prepares."""
    past = Past(View)
    past.given(locked(past))
    context = past.keep(b"{}")
    past.given(ReflectionRequested(agent="a0004", genome=sha("g"), context=context, wall_seconds=9))
    past.given(
        BirthRequested(agent="a0009", parent="a0001", parent_genome=sha("g"), brief="x"), of="b"
    )
    past.given(BriefIssued(analysis=context, parents=1, call="c"), of="e001")
    past.given(finished(), of=ATTEMPT)
    assert past.view.selection is None


def test_an_unknown_reflection_is_no_state():
    """The attempt of another turnover is ignored."""
    past = assigned().given(finished(), of="e001x1-a0009-reflect")
    assert past.view.selection.reflections == {}


def test_the_archived_leave_the_population():
    """Their genome stays known."""
    past = graded()
    past.given(AgentArchived(agent="a0010", epoch=1, rank=10, because="rank"), of="a0010")
    assert ("a0010" in past.view.population, "a0010" in past.view.genome_of) == (False, True)
    assert ReflectionProposed.v == 1
