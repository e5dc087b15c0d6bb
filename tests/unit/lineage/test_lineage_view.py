"""What lineage remembers of a run besides its genomes: the population, exports, refusals."""

from datetime import UTC, datetime

from schemas import ref_of
from schemas.commands import Refused
from schemas.commands.export import ExportRun
from schemas.events.agent import AgentArchived, AgentBorn, AgentGenomeActivated
from schemas.events.attempt import AttemptQueued
from schemas.events.export import ExportRequested
from schemas.events.preflight import PreflightCheckFailed
from schemas.events.reflection import ReflectionProposed
from schemas.values.runtime import Limits
from services.lineage.core import exporting
from services.lineage.core.view import View, tree_ref
from tests.support.given import RUN, Past, agents, file, frozen, queued, requested, sha

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def export(path: str) -> ExportRun:
    return ExportRun(run=RUN, command="c1", path=path)


def test_an_export_is_accepted_once_and_only_to_a_full_path():
    """A relative path would depend on where the kernel stands."""
    past = Past(View)
    unknown = exporting.request(past.view, export("/out"), NOW)
    assert isinstance(unknown, Refused) and "not known" in unknown.reason
    past.given(requested())
    for path in ("out", "/out/../etc"):
        refused = exporting.request(past.view, export(path), NOW)
        assert isinstance(refused, Refused) and "absolute" in refused.reason
    drafts = exporting.request(past.view, export("/out"), NOW)
    assert isinstance(drafts, list)
    assert drafts[0].data == ExportRequested(path="/out", requested_by="operator")
    past.then(drafts)
    assert exporting.request(past.view, export("/out"), NOW) == []


def test_the_population_follows_births_and_deaths():
    """With the genome that each agent has now, its seed and its newest candidate."""
    past = Past(View)
    for agent in agents(3):
        past.given(AgentBorn(agent=agent, genome=sha(agent), birth_epoch=1), of=agent)
    new = AgentGenomeActivated(agent="a0002", previous=sha("a0002"), genome=sha("new"), epoch=1)
    past.given(new, of="a0002")
    past.given(AgentArchived(agent="a0003", epoch=1, rank=3, because="rank"), of="a0003")
    assert past.view.population == {"a0001": sha("a0001"), "a0002": sha("new")}
    past.given(queued("e001x1-a0001", seed=7), of="e001x1-a0001")
    other = AttemptQueued(
        attempt="t-x", purpose="trial", limits=Limits(), wall_seconds=1, finalize_seconds=0, seed=9
    )
    past.given(other, of="t-x")
    past.given(frozen(past, "e001x1-a0001", file("a")), of="e001x1-a0001")
    past.given(frozen(past, "e001x1-a0002", file("a"), candidate=None), of="e001x1-a0002")
    assert past.view.seeds == {"a0001": 7}
    assert past.view.candidates == {"a0001": ref_of(b"5")}


def test_a_reflections_proposal_waits_for_its_registration():
    """Said twice it waits once."""
    past = Past(View)
    said = ReflectionProposed(
        proposal="r-e001-a0001", agent="a0001", parent=sha("a0001"), mutation=past.keep(b"{}")
    )
    past.given(said, said, of="r-e001-a0001")
    assert list(past.view.pending) == ["r-e001-a0001"]
    assert past.view.proposals["r-e001-a0001"].origin == "reflection"


def test_a_failed_seed_check_is_an_answer():
    """Other services' checks are not lineage's."""
    past = Past(View)
    past.given(PreflightCheckFailed(check="models", reason="no"), of="broker")
    assert past.view.preflight_seq == 0
    past.given(PreflightCheckFailed(check="seed", reason="no"), of="lineage")
    assert past.view.preflight_seq == 2


def test_a_tree_known_by_its_hash_is_a_reference():
    """Its size is not looked at."""
    assert tree_ref(sha("x")).sha256 == sha("x")
