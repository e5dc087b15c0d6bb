"""No event grows with the population: rows lie beside it."""

from schemas import Draft, canonical, encode, ids
from schemas.canonical import rows
from schemas.events.epoch import EpochExecutionClosed, EpochOpened
from schemas.events.run import RunGenesisRequested
from schemas.values.population import AttemptRow, Member
from services.evolver.core import brief, genesis, selection
from services.evolver.core.view import View
from services.grader.core import grading
from services.grader.core.view import View as GraderView
from tests.support.given import (
    RUN,
    START,
    Past,
    agents,
    committed,
    execution_closed,
    happened,
    locked,
    opened,
    scored,
    sha,
)
from tests.unit.evolver.graded import graded

MANY = agents(1000)
LIMIT = 64 * 1024


def small(drafts: list[Draft]) -> bool:
    sizes = [len(encode(happened(RUN, d.data, d.entity_id).envelope)) for d in drafts]
    return bool(sizes) and max(sizes) < LIMIT


def test_a_thousand_agents_are_born_and_listed():
    """Prompts are drafted twenty at a time; the population is a blob."""
    past = Past(View).given(RunGenesisRequested(slots=1000, instructions="x"))
    queued = genesis.advance(past.view, "main", START)
    assert small(queued)
    past.then(queued)
    texts = [("x" * 3000) for _ in range(20)]
    answer = canonical({"variations": texts})
    assert small(genesis.drafted(past.view.batches[0].queued, "Base.", answer, "c"))
    for agent in MANY:
        past.given(committed(f"g-{agent}"), of=f"g-{agent}")
    assert small(genesis.advance(past.view, "main", START))


def test_a_thousand_agents_are_ranked():
    """The board is a blob."""
    past = Past(GraderView)
    past.given(locked(past), opened(past, MANY))
    attempts = {ids.attempt_id(1, 1, agent): "completed" for agent in MANY}
    past.given(execution_closed(past, attempts), of="e001")
    for agent in MANY:
        past.given(scored(agent), of=f"e001x1-{agent}")
    assert small(grading.publish(past.view, "e001", START))


def test_a_thousand_agents_are_sorted_into_cohorts():
    """So are the dossiers of all of them."""
    past = graded(1000)
    drafts = selection.assign(past.view, "e001", START)
    assert small(drafts)
    assert small(brief.advance(past.then(drafts).view, "e001", START))


def test_an_epoch_lists_its_agents_beside_itself():
    """Members and attempts are rows of a blob."""
    members = rows(Member(agent=a, genome=sha(a), state=sha(a)) for a in MANY)
    attempts = rows(AttemptRow(agent=a, attempt=a, outcome="completed") for a in MANY)
    events = [
        EpochOpened(
            epoch=1,
            attempt_try=1,
            agents=members.ref,
            count=members.count,
            attempt_seconds=1,
            finalize_seconds=0,
            seed=1,
            locks_sha=sha("l"),
        ),
        EpochExecutionClosed(epoch=1, attempt_try=1, attempts=attempts.ref, count=attempts.count),
    ]
    assert small([Draft("e001", event) for event in events])
    assert members.count == 1000 and len(members.content) > LIMIT
