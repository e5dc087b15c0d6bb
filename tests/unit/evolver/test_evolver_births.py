"""Children of elites."""

from schemas.events.birth import BirthMutationDrafted, BirthMutationRejected
from schemas.events.genome import GenomeRejected
from schemas.events.run import RunResumed
from schemas.events.selection import SelectionAbandoned
from services.evolver.core import birth
from services.evolver.core.view import View
from tests.support.given import START, Past, agents, committed, facts, kinds, sha
from tests.unit.evolver.graded import assigned, dossiers, issued, reflecting

FIRST = "e001-a0011"


def advance(past: Past[View]):
    return birth.advance(past.view, FIRST, START)


def draft(past: Past[View]) -> Past[View]:
    tries = past.view.selection.births[FIRST].requests[-1].tries
    event = BirthMutationDrafted(
        agent="a0011",
        tries=tries,
        proposal=birth.proposal_of(FIRST, tries),
        parent_genome=sha("genome a0001"),
        mutation=past.keep(b"{}"),
        call="c",
    )
    return past.given(event, of=FIRST)


def reject(past: Past[View], reason: str = "duplicate") -> Past[View]:
    proposal = past.view.selection.births[FIRST].drafted.proposal
    no = GenomeRejected(proposal=proposal, origin="birth", reason=reason, detail="d")  # type: ignore[arg-type]
    return past.given(no, of=proposal)


def test_newborns_are_numbered_after_everybody_ever_born():
    """In the order of the elite, each with its parent's brief."""
    past = issued(("a0002", 1), ("a0001", 2))
    found = birth.slots(past.view, past.view.selection)
    assert [tuple(slot) for slot in found] == [
        ("a0011", "a0001", "like a0001"),
        ("a0012", "a0001", "like a0001"),
        ("a0013", "a0002", "like a0002"),
    ]


def test_without_briefs_there_is_no_slot():
    """A birth waits for its brief."""
    past = dossiers()
    assert birth.slots(past.view, past.view.selection) == []
    assert birth.request(past.view, FIRST, START) == []


def test_random_children_have_elites_as_parents_in_turn():
    """Without any brief."""
    past = assigned(strategy={"name": "random"})
    found = birth.slots(past.view, past.view.selection)
    assert (agents(3) * 3)[:7] == [slot.parent for slot in found]
    assert {"random"} == {slot.brief for slot in found}


def test_a_birth_is_requested_once_for_each_slot():
    """With the parent's genome."""
    past = issued(("a0001", 2), ("a0002", 1))
    drafts = birth.request(past.view, FIRST, START)
    (event,) = facts(drafts)
    assert ("a0011", "a0001", sha("genome a0001")) == (
        event.agent,
        event.parent,
        event.parent_genome,
    )
    assert birth.request(past.then(drafts).view, FIRST, START) == []
    assert birth.request(past.view, "e001-a0099", START) == []
    assert birth.request(Past(View).view, FIRST, START) == []


def test_a_registered_proposal_settles_the_birth():
    """Once."""
    past = draft(reflecting())
    assert advance(past) == []
    past.given(committed("b-e001-a0011-0", "birth"), of="b-e001-a0011-0")
    drafts = advance(past)
    (event,) = facts(drafts)
    assert (sha("b-e001-a0011-0"), False) == (event.genome, event.clone)
    assert advance(past.then(drafts)) == []
    assert advance(Past(View)) == []


def test_a_rejected_proposal_is_asked_for_again_with_its_reason():
    """Five proposals, then the child is a clone of its parent."""
    past = reflecting()
    for tries in range(4):
        drafts = advance(reject(draft(past)))
        assert kinds(drafts) == ["birth.mutation_rejected", "birth.requested"]
        assert (tries + 1, tries + 1) == (drafts[1].data.tries, len(drafts[1].data.rejected))
        past.then(drafts)
    no, settled = facts(advance(reject(draft(past), "no_change")))
    assert isinstance(no, BirthMutationRejected)
    assert (True, sha("genome a0001")) == (settled.clone, settled.genome)


def test_an_unanswered_birth_is_asked_again_after_a_resume():
    """Only if the selection had been abandoned."""
    past = reflecting()
    assert advance(past) == []
    past.given(SelectionAbandoned(epoch=1, stage="birth", reason="x"), of="e001")
    drafts = advance(past.given(RunResumed()))
    assert [(d.data.type, d.data.tries) for d in drafts] == [("birth.requested", 1)]
    assert advance(past.then(drafts)) == []
