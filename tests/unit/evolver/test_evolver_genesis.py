"""Generation one."""

import json

from schemas import canonical
from schemas.events.genesis import GenesisBatchQueued
from schemas.events.run import RunFailed, RunGenesisRequested
from services.evolver.core import genesis
from services.evolver.core.view import View
from tests.support.given import START, Past, agents, committed, facts, kinds, sha


def advance(past: Past[View]):
    return genesis.advance(past.view, "main", START)


def asked(slots: int = 4) -> Past[View]:
    return Past(View).given(RunGenesisRequested(slots=slots, instructions="x"))


def queued(slots: int = 4) -> Past[View]:
    past = asked(slots)
    return past.then(advance(past))


def answer(*texts: str) -> bytes:
    return canonical({"variations": list(texts)})


def draft(past: Past[View], batch: int, *texts: str):
    return genesis.drafted(past.view.batches[batch].queued, "Base.", answer(*texts), "c1")


def test_prompts_are_asked_for_in_batches_of_twenty():
    """The last one holds the rest; nothing before the request."""
    assert advance(Past(View)) == []
    drafts = advance(asked(45))
    assert [(d.first, d.count) for d in facts(drafts)] == [(1, 20), (21, 20), (41, 5)]
    assert advance(asked(45).then(drafts)) == []


def test_every_slot_has_a_prompt_of_its_own():
    """The slot's number keeps equal variations distinct."""
    past = queued(4)
    (drafted,) = draft(past, 0, "same", "same", "same", "same")
    prompts = json.loads(drafted.blobs[0])
    assert [f"g-{a}" for a in agents(4)] == sorted(prompts)
    assert len({v.prompt_sha for v in drafted.data.variants}) == 4
    assert "Base." in prompts["g-a0003"] and "variation 3" in prompts["g-a0003"]
    assert drafted.data == past.then([drafted]).view.batches[0].drafted


def test_a_wrong_number_of_variations_is_asked_for_again():
    """Blank ones do not count; after three repeats somebody has to look."""
    past = queued(4)
    for texts in (("a",), ("a", "b", "c", " ")):
        (failed,) = facts(draft(past, 0, *texts))
        assert failed.retryable
    for tries in (1, 2, 3):
        past.then(draft(past, 0, "a"))
        drafts = advance(past)
        assert [tries] == [d.tries for d in facts(drafts)]
        past.then(drafts)
    past.then(draft(past, 0, "a"))
    assert advance(past) == []
    assert [d.tries for d in facts(genesis.resume(past.view, "main", START))] == [4]


def test_a_resume_repeats_nothing_that_did_not_give_up():
    """Nor anything that is done."""
    assert genesis.resume(queued().view, "main", START) == []
    assert genesis.resume(Past(View).view, "main", START) == []
    ended = asked().given(RunFailed(reason="draft"))
    assert genesis.resume(ended.view, "main", START) == []
    assert advance(ended) == []


def test_everybody_is_born_at_once_when_every_prompt_is_a_genome():
    """One batch with the whole population."""
    past = queued(4)
    for agent in agents(3):
        past.given(committed(f"g-{agent}"), of=f"g-{agent}")
    assert advance(past) == []
    past.given(committed("g-a0004"), of="g-a0004")
    drafts = advance(past)
    assert kinds(drafts) == ["agent.born"] * 4 + ["genesis.completed"]
    assert [sha("g-a0001"), 1] == [drafts[0].data.genome, drafts[0].data.birth_epoch]
    past.then(drafts)
    assert (past.view.last_agent, advance(past), past.view.genesis_done) == (4, [], True)


def test_a_batch_knows_its_slots():
    """The first slot is one."""
    event = GenesisBatchQueued(batch=0, first=1, count=4)
    assert [event] == facts(advance(asked()))
