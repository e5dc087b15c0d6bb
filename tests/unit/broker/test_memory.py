"""Publishing, rating, inheriting and ranking memories."""

import pytest

from schemas import Draft, rows
from schemas.events.agent import AgentBorn
from schemas.events.memory import MemoryRated
from schemas.events.selection import SelectionCohortsAssigned
from schemas.values.population import CohortRow
from services.broker.core import memory, ranking
from services.broker.core.lineage import Ancestry, Link
from services.broker.core.memory import Invalid, Note
from services.broker.core.ranking import Candidate, Vote
from services.broker.core.trust import Trust
from services.broker.core.view import Grant
from tests.unit.broker.past import SHA, given, published, requested

GRANT = Grant("g1", "e001x1-a0001", "a0001", SHA, ("memory",), 1)
NOTE = Note("finding", "hexagons pack well", "", (), "population")


def born(agent: str, source: str, until: int = 0) -> AgentBorn:
    return AgentBorn(agent=agent, genome=SHA, birth_epoch=1, memory_from=source, memory_seq=until)


def test_a_record_is_published_once() -> None:
    drafts = memory.publish(given(requested()), GRANT, NOTE)
    assert isinstance(drafts, list)
    assert drafts[0].entity_id == memory.record_id("a0001", NOTE)
    assert memory.publish(given(requested(), *drafts), GRANT, NOTE) == []


def test_an_attempt_publishes_at_most_its_cap() -> None:
    past = [published(f"m{n}") for n in range(memory.CAP)]
    answer = memory.publish(given(requested(), *past), GRANT, NOTE)
    assert isinstance(answer, Invalid)
    assert answer.status == 429


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"summary": " "},
        {"summary": 3},
        {"summary": "x" * 2001},
        {"summary": "x", "body": "y" * 8001},
        {"summary": "x", "kind": "epoch_report"},
        {"summary": "x", "kind": "Not A Word"},
        {"summary": "x", "visibility": "all"},
        {"summary": "x", "evidence_refs": [1]},
        {"summary": "x", "evidence_refs": ["r"] * 26},
    ],
)
def test_a_note_out_of_bounds_is_refused(body: dict[str, object]) -> None:
    assert isinstance(memory.note(body), Invalid)


def test_an_activity_line_is_an_own_memory() -> None:
    item = memory.activity({"summary": "did it", "outcome": "ok", "next_step": "", "more": 1})
    assert item == Note("activity", "did it", '{"outcome": "ok"}', (), "own")


def test_ratings_need_a_visible_record_of_another_line() -> None:
    """Own records, and those of ancestors, are one's own."""
    view = given(
        requested(),
        published("m1", "a0001", "population"),
        published("m2", "a0002", "population"),
        published("m3", "a0002", "own"),
        published("m4", "a0009", "population"),
        Draft("a0001", born("a0001", "a0009")),
    )

    def status(record: str, value: object = 1) -> int:
        answer = memory.rate(view, GRANT, record, value)
        return answer.status if isinstance(answer, Invalid) else 201

    assert status("m2") == 201
    assert status("m1") == status("m4") == 403
    assert status("m3") == status("m0") == 404
    assert status("m2", 0) == status("m2", True) == status("m2", "1") == 400


def test_a_repeated_vote_says_nothing_new() -> None:
    vote = Draft("m2", MemoryRated(record="m2", rater="a0001", value=1))
    view = given(requested(), published("m2", "a0002", "population"), vote)
    assert memory.rate(view, GRANT, "m2", 1) == []
    assert memory.rate(view, GRANT, "m2", -1) != []


def test_a_chain_is_bounded_by_every_birth_after_it() -> None:
    ancestry = Ancestry()
    ancestry.born(born("a2", "a1", 50), 60)
    ancestry.born(born("a3", "a2", 40), 70)
    ancestry.born(born("a4", "a3"), 80)
    assert ancestry.chain("a4") == [Link("a3", 80), Link("a2", 40), Link("a1", 40)]
    assert ancestry.chain("a1") == []


def test_trust_follows_the_cohorts() -> None:
    cohorts = rows(
        CohortRow(agent=agent, cohort=cohort)
        for agent, cohort in (
            ("a1", "elite"), ("a2", "elite"), ("a3", "middle"), ("a4", "culled")
        )
    )  # fmt: skip
    assigned = SelectionCohortsAssigned(
        epoch=1, cohorts=cohorts.ref, count=4, elite=2, middle=1, culled=1, births=1, rule="x"
    )
    view = given(Draft("e001", assigned), blobs={cohorts.ref.sha256: cohorts.content})
    assert [view.trust.of(agent) for agent in ("a1", "a2", "a3", "a4", "a5")] == [
        1.0, 0.9, 0.65, 0.25, 0.25,
    ]  # fmt: skip


def candidate(record: str, text: str = "", **more: object) -> Candidate:
    values: dict[str, object] = {
        "record": record, "agent": "a0002", "kind": "note", "summary": text, "body": "",
        "has_evidence": False, "content_sha": record, "scope": "population", "epoch": 1, "seq": 1,
    }  # fmt: skip
    return Candidate(**(values | more))  # type: ignore[arg-type]


def ranked(
    *candidates: Candidate, query: str = "", votes: tuple[Vote, ...] = (), epoch: int = 1
) -> list[str]:
    scored = ranking.rank(candidates, query, votes, Trust(), "a0001", epoch, 10)
    return [one.candidate.record for one in scored]


def test_only_values_match_and_in_any_script() -> None:
    """`kind` and `summary` are names of fields, not words of a record."""
    found = (candidate("m1", "Größere КРУГИ"), candidate("m2", "円を詰める"))
    assert ranked(*found, query="größere") == ["m1"]
    assert ranked(*found, query="круги") == ["m1"]
    assert ranked(*found, query="を詰") == ["m2"]
    assert ranked(*found, query="summary kind") == []
    assert sorted(ranked(*found)) == ["m1", "m2"]


def test_more_words_come_first_and_never_the_faster() -> None:
    """Which of two agents wrote first must not change what a third one reads."""
    one, two = candidate("m1", "circle", seq=9), candidate("m2", "circle", seq=1)
    both = candidate("m3", "circle hexagon")
    assert ranked(two, one, both, query="circle hexagon") == ["m3", "m1", "m2"]


def test_old_records_fade() -> None:
    """Recency really counts: twelve epochs weigh more than a scope."""
    old, new = candidate("m1", epoch=1, scope="own"), candidate("m2", epoch=13)
    assert ranked(old, new, epoch=13) == ["m2", "m1"]
    assert ranked(old, new, epoch=1) == ["m1", "m2"]


def test_votes_count_but_not_the_authors() -> None:
    found = (candidate("m1"), candidate("m2"))
    assert ranked(*found) == ["m1", "m2"]
    assert ranked(*found, votes=(Vote("m2", "a0003", 1),)) == ["m2", "m1"]
    assert ranked(*found, votes=(Vote("m2", "a0002", 1),)) == ["m1", "m2"]


def test_equal_content_is_shown_once() -> None:
    found = (candidate("m1", content_sha="x"), candidate("m2", content_sha="x"))
    assert ranked(*found) == ["m1"]
