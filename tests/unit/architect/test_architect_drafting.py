"""From a goal to an approved benchmark."""

import json

from schemas import canonical
from schemas.commands import Refused
from schemas.commands.benchmark import ApproveBenchmark, DeclineBenchmark, RequestRevision
from schemas.envelope import encode
from schemas.events.benchmark import BenchmarkDraftQueued, BenchmarkRevisionRequested, Violation
from schemas.events.run import RunCancelled, RunFailed, RunPreflightRefused
from schemas.refs import SecretRef
from services.architect.core import drafting
from services.architect.core.contract import Inventory
from services.architect.core.view import View
from tests.support.given import (
    RUN,
    START,
    Past,
    benchmark,
    facts,
    happened,
    kinds,
    locked,
    requested,
    sha,
)

GOOD = canonical(benchmark())
BAD = canonical(benchmark(objective=""))


def advance(past: Past[View]):
    return drafting.advance(past.view, "main", START)


def asked(**changes) -> Past[View]:
    past = Past(View).given(requested(**changes))
    return past.then(advance(past))


def drafted(**changes) -> Past[View]:
    return asked(**changes).then(drafting.judge(Inventory(), 1, 0, GOOD, "c1"))


def test_a_request_queues_the_first_draft():
    """Once; an answer is waited for."""
    past = Past(View)
    assert advance(past) == []
    drafts = advance(past.given(requested()))
    assert [(d.draft_no, d.repair) for d in facts(drafts)] == [(1, 0)]
    assert advance(past.then(drafts)) == []


def test_a_valid_answer_is_drafted_in_canonical_form():
    """And then waits for the operator."""
    indented = json.dumps(json.loads(GOOD), indent=2).encode()
    (draft,) = drafting.judge(Inventory(), 1, 0, indented, "c1")
    assert draft.blobs == (GOOD,)
    assert draft.data.criteria == 1
    assert advance(asked().then([draft])) == []


def test_an_answer_of_the_wrong_shape_is_refused_with_paths():
    """Field names are published: the violation says which one is wrong."""
    found, broken = drafting.parse(b'{"objective": 5}')
    assert found is None
    assert {"objective", "criteria", "instructions"} <= {v.path for v in broken}
    assert [v.path for v in drafting.parse(b"{")[1]] == [""]


def test_a_refused_answer_is_repaired_three_times():
    """Each repair shows the violations and the answer before; then the draft has failed."""
    past = asked()
    for repair in range(3):
        past.then(drafting.judge(Inventory(), 1, repair, BAD, None))
        (queued,) = facts(drafts := advance(past))
        assert (repair + 1, "objective") == (queued.repair, queued.violations[0].path)
        past.then(drafts)
    past.then(drafting.judge(Inventory(), 1, 3, BAD, None))
    (failed,) = facts(drafts := advance(past))
    assert (failed.tries, failed.violations[0].path) == (4, "objective")
    assert advance(past.then(drafts)) == []


def test_a_refusal_stays_below_the_size_of_an_event():
    """However many rules are broken, in whatever script."""
    many = [Violation(path="p" * 900, message="\N{CJK UNIFIED IDEOGRAPH-4E00}" * 900)] * 500
    kept = drafting._bounded(many)
    assert 0 < len(kept) < 100
    (draft,) = drafting.judge(Inventory(), 1, 0, canonical({"criteria": [{}] * 5000}), None)
    assert len(encode(happened(RUN, draft.data).envelope)) < 64 * 1024
    assert len(drafting._bounded([Violation(path="p", message="m")] * 500)) == 100


def test_a_users_own_benchmark_is_judged_without_a_model():
    """It is not repaired: it is the user's."""
    past = Past(View)
    past.given(requested(benchmark=past.keep(GOOD)))
    assert kinds(advance(past)) == ["benchmark.drafted"]
    past = Past(View)
    past.given(requested(benchmark=past.keep(BAD)))
    past.then(advance(past))
    assert kinds(advance(past)) == ["benchmark.draft_failed"]


def test_no_answer_at_all_fails_the_draft():
    """With a bounded reason."""
    past = asked().then(drafting.failed("x" * 9000, 4))
    assert len(past.view.failed.reason) == 2000
    assert advance(past) == []


def test_a_run_may_approve_by_itself():
    """Once, by its own policy; never what was declined."""
    past = drafted(approve="automatic")
    drafts = advance(past)
    (event,) = facts(drafts)
    assert (True, past.view.drafted.benchmark.sha256) == (event.automatic, event.benchmark_sha)
    assert advance(past.then(drafts)) == []
    declined = drafted(approve="automatic")
    declined.then(drafting.decline(declined.view, decline(1), START))
    assert advance(declined) == []


def approve(draft_no: int, digest: str) -> ApproveBenchmark:
    return ApproveBenchmark(run=RUN, command="c", draft_no=draft_no, benchmark_sha=digest)


def decline(draft_no: int) -> DeclineBenchmark:
    return DeclineBenchmark(run=RUN, command="c", draft_no=draft_no, reason="no")


def revise(draft_no: int) -> RequestRevision:
    return RequestRevision(run=RUN, command="c", draft_no=draft_no, notes="Shorter.")


def test_approval_names_the_draft_and_its_hash():
    """Once; a refused preflight asks for it again."""
    past = drafted()
    command = approve(1, past.view.drafted.benchmark.sha256)
    drafts = drafting.approve(past.view, command, START)
    assert kinds(drafts) == ["benchmark.approved"]
    assert drafting.approve(past.then(drafts).view, command, START) == []
    past.given(RunPreflightRefused(failed=()))
    assert kinds(drafting.approve(past.view, command, START)) == ["benchmark.approved"]
    assert isinstance(drafting.approve(past.view, approve(1, sha("x")), START), Refused)


def test_a_declined_draft_can_be_approved_after_all():
    """Declining twice changes nothing."""
    past = drafted()
    drafts = drafting.decline(past.view, decline(1), START)
    assert kinds(drafts) == ["benchmark.declined"]
    assert drafting.decline(past.then(drafts).view, decline(1), START) == []
    command = approve(1, past.view.drafted.benchmark.sha256)
    assert kinds(drafting.approve(past.view, command, START)) == ["benchmark.approved"]


def test_a_revision_queues_the_next_draft_with_its_notes():
    """The new draft is unapproved."""
    past = drafted()
    past.then(drafting.revise(past.view, revise(1), START))
    assert isinstance(past.view.revision, BenchmarkRevisionRequested)
    (queued,) = facts(drafts := advance(past))
    assert (queued.draft_no, queued.notes) == (2, "Shorter.")
    past.then(drafts).then(drafting.judge(Inventory(), 2, 0, GOOD, "c2"))
    assert (past.view.drafted.draft_no, past.view.approved) == (2, False)


def test_only_the_latest_draft_takes_commands():
    """None before there is one, none after the lock or the end, none in an unknown run."""
    past = drafted()
    views = [
        Past(View).view,
        asked().view,
        past.view,
        drafted().given(RunFailed(reason="no_success")).view,
        drafted().given(locked(past)).view,
    ]
    for view, number in zip(views, (1, 1, 2, 1, 1), strict=True):
        assert isinstance(drafting.approve(view, approve(number, sha("x")), START), Refused)
        assert isinstance(drafting.decline(view, decline(number), START), Refused)
        assert isinstance(drafting.revise(view, revise(number), START), Refused)


def test_an_ended_or_locked_run_drafts_nothing():
    """Nothing is due any more."""
    assert advance(Past(View).given(requested(), RunCancelled())) == []


def test_the_model_is_given_names_of_secrets_never_values():
    """Neither the environment nor its values reach the Architect."""
    past = asked(secrets=(SecretRef(name="API_KEY"),), env={"PLAIN": "value-of-env"})
    found = json.loads(drafting.payload(past.view, past.view.open_draft))
    assert found["goal"] == "Find a large number."
    assert found["inventory"] == {"tools": [], "connectors": []}
    assert not {"repair", "notes", "env", "secrets"} & found.keys()


def test_a_repair_shows_the_previous_answer_if_it_is_json():
    """And every violation; a revision shows the notes."""
    past = asked()
    broken = (Violation(path="x", message="y"),)
    for answer, previous in ((b'{"a": 1}', {"a": 1}), (b"{", None), (b"[" * 200_000, None)):
        queued = BenchmarkDraftQueued(
            draft_no=1, repair=1, previous=past.keep(answer), violations=broken, notes="n"
        )
        found = json.loads(drafting.payload(past.view, queued))
        assert {"previous": previous, "violations": [{"path": "x", "message": "y"}]} == (
            found["repair"]
        )
        assert found["notes"] == "n"
    bare = BenchmarkDraftQueued(draft_no=1, violations=broken)
    assert json.loads(drafting.payload(past.view, bare))["repair"]["previous"] is None
