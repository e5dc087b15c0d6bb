"""Who stays, who adapts, who goes; and the one batch that changes the population."""

import json

from schemas.events.agent import AgentGenomeActivated
from schemas.events.birth import BirthSettled
from schemas.events.reflection import ReflectionSettled
from schemas.events.run import RunFailed
from schemas.values.tree import Tree
from services.evolver.core import selection
from services.evolver.core.view import View
from tests.support.given import START, Past, agents, facts, kinds, sha
from tests.unit.evolver.graded import assigned, graded, reflecting


def assign(past: Past[View]):
    return selection.assign(past.view, "e001", START)


def turn_over(past: Past[View]):
    return selection.turn_over(past.view, "e001", START)


def test_cohorts_are_assigned_once():
    """With their sizes and the rule."""
    past = graded(8, 2)
    drafts = assign(past)
    (event,) = facts(drafts)
    assert (event.elite, event.middle, event.culled, event.births) == (3, 4, 3, 3)
    assert assign(past.then(drafts)) == []
    assert tuple(agents(3)) == past.view.selection.cohorts.elite


def test_nothing_is_selected_before_it_is_asked_for_or_after_the_end():
    """Nor is anything turned over."""
    assert assign(Past(View)) == []
    assert turn_over(Past(View)) == []
    assert turn_over(graded()) == []
    assert assign(graded().given(RunFailed(reason="no_success"))) == []


def test_without_births_the_turnover_closes_at_once():
    """The control in which nothing changes."""
    past = graded(strategy={"births": False})
    drafts = assign(past)
    assert kinds(drafts) == ["selection.closed"]
    assert assign(past.then(drafts)) == []


def test_the_random_control_replaces_all_but_the_elite():
    """Nobody reflects."""
    (event,) = facts(assign(graded(strategy={"name": "random"})))
    assert (event.elite, event.middle, event.culled) == (3, 0, 7)


def settle(past: Past[View], changed: str | None = "a0005", clone: str = "a0013") -> Past[View]:
    for agent in agents(4, 4):
        genome = sha("new") if agent == changed else sha(f"genome {agent}")
        event = ReflectionSettled(
            agent=agent, genome=genome, changed=agent == changed, because="chose"
        )
        past.given(event, of=f"e001-{agent}")
    for agent in agents(3, 11):
        parent = past.view.selection.births[f"e001-{agent}"].requests[-1].parent
        born = BirthSettled(
            agent=agent, parent=parent, genome=sha(f"child {agent}"), clone=agent == clone
        )
        past.given(born, of=f"e001-{agent}")
    return past


def test_the_population_changes_in_one_batch_when_all_is_settled():
    """Archived, activated, born, closed."""
    past = reflecting()
    assert turn_over(past) == []
    drafts = turn_over(settle(past))
    assert [
        *["agent.archived"] * 3,
        "agent.genome_activated",
        *["agent.born"] * 3,
        "selection.closed",
    ] == kinds(drafts)
    assert [row["change"] for row in json.loads(drafts[-1].blobs[0])] == ["archived"] * 3 + [
        "mutated"
    ] + ["born"] * 3
    past.then(drafts)
    assert len(past.view.population) == 10
    assert (sha("new"), 13) == (past.view.genome_of["a0005"], past.view.last_agent)
    assert turn_over(past) == []


def test_a_missing_birth_or_reflection_keeps_everybody_waiting():
    """Nothing is changed by halves."""
    past = assigned()
    assert turn_over(past) == []
    past = settle(reflecting())
    past.view.selection.births["e001-a0012"].settled = None
    assert turn_over(past) == []


def test_failed_and_low_ranked_agents_are_archived_for_their_reason():
    """The rank stands in the event."""
    drafts = turn_over(settle(reflecting()))
    archived = [d.data for d in drafts if d.data.type == "agent.archived"]
    assert [(a.rank, a.because) for a in archived] == [(8, "rank"), (9, "rank"), (10, "rank")]


def test_a_child_inherits_state_and_memory_by_reference():
    """A clone starts with an empty state; both remember until this turnover."""
    past = settle(reflecting())
    born = [d.data for d in turn_over(past) if d.data.type == "agent.born"]
    empty = past.keep_tree(Tree(files=())).sha256
    assert [empty, empty, None] == [b.state for b in born]
    assert [b.parent for b in born] == [b.memory_from for b in born]
    assert {past.seq} == {b.memory_seq for b in born}
    assert {2} == {b.birth_epoch for b in born}


def test_an_activation_names_what_was_before():
    """An auditor can follow every genome."""
    drafts = turn_over(settle(reflecting()))
    (event,) = [d.data for d in drafts if isinstance(d.data, AgentGenomeActivated)]
    assert (sha("genome a0005"), sha("new")) == (event.previous, event.genome)
