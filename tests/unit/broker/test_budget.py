"""What a run may spend."""

from datetime import timedelta
from decimal import Decimal

from schemas import Draft
from schemas.commands.complete import TokenFor
from schemas.events.attempt import AttemptFinished
from schemas.events.budget import BudgetExhausted, BudgetSettled
from schemas.events.run import RunCompleted, RunLocked, RunPaused, RunResumed
from schemas.values.runtime import Budget, Limits, Models, Runtime
from services.broker.core import budget, grant
from services.broker.core.budget import Exhausted, Pending
from services.broker.core.view import View
from tests.unit.broker.past import (
    BLOB,
    RUN,
    SHA,
    START,
    called,
    failed,
    given,
    granted,
    requested,
    reserved,
)

NOW = START + timedelta(minutes=1)
ATTEMPT = "e001x1-a0001"


def refused(view: View, grant: str | None = None, pending: Pending = Pending(), tokens: int = 1):  # type: ignore[no-untyped-def]  # noqa: B008
    return budget.exhausted(view, grant, pending, tokens, NOW)


def finished(attempt: str = ATTEMPT) -> Draft:
    return Draft(attempt, AttemptFinished(outcome="completed"))


def test_without_caps_nothing_is_refused() -> None:
    assert refused(given(requested(), called(10**9))) is None


def test_tokens_calls_and_money_have_caps() -> None:
    tokens = given(requested(Budget(tokens=20)), called(20))
    calls = given(requested(Budget(calls=1)), called(0))
    money = given(requested(Budget(usd=Decimal("0.50"))), called(0, usd="0.50"))
    assert refused(tokens) == Exhausted("tokens", 20, 20)
    assert refused(calls) == Exhausted("calls", 1, 1)
    assert refused(money) == Exhausted("usd", 50, 50)


def test_a_failed_try_is_a_call_too() -> None:
    """The provider bills it."""
    assert refused(given(requested(Budget(calls=1)), failed())) == Exhausted("calls", 1, 1)
    assert refused(given(requested(Budget(calls=1)), failed("refused"))) is None


def test_a_call_must_fit_into_what_is_left() -> None:
    view = given(requested(Budget(tokens=100)), called(60))
    assert refused(view, tokens=40) is None
    assert refused(view, tokens=41) == Exhausted("tokens", 60, 100)


def test_calls_under_way_count() -> None:
    view = given(requested(Budget(tokens=100, calls=2)))
    assert refused(view, pending=Pending(0, 1)) is None
    assert refused(view, pending=Pending(0, 2)) == Exhausted("calls", 2, 2)
    assert refused(view, pending=Pending(100, 1)) == Exhausted("tokens", 100, 100)


def test_an_open_block_is_kept_for_its_grant() -> None:
    """Others may not spend it; its own grant may, and may go beyond it while there is room."""
    view = given(requested(Budget(calls=4)), granted(), reserved(calls=4))
    assert refused(view) == Exhausted("calls", 4, 4)
    assert refused(view, grant="g1") is None


def test_a_settled_block_is_free_again() -> None:
    settled = Draft("g1", BudgetSettled(grant="g1", tokens=0, calls=0))
    view = given(requested(Budget(calls=4)), granted(), reserved(calls=4), finished(), settled)
    assert refused(view) is None


def test_time_is_counted_from_the_lock_without_pauses() -> None:
    runtime = Runtime(
        executor="local", models=Models(specialist="a", organism="b"), limits=Limits(),
        seed_sha=SHA, layer_sha=SHA, kernel_version="1",
    )  # fmt: skip
    locked = RunLocked(
        objective_sha=SHA, benchmark=BLOB, tool_manifest=BLOB, runtime=runtime, runtime_sha=SHA,
        formula_version="1", locks_sha=SHA,
    )  # fmt: skip
    view = given(
        requested(Budget(wall_seconds=58)),
        Draft("main", locked),
        Draft("main", RunPaused(cause="operator", phase="x")),
        Draft("main", RunResumed()),
    )
    assert view.wall_seconds(NOW) == 57.0
    assert refused(view) is None
    later = budget.exhausted(view, None, Pending(), 1, NOW + timedelta(seconds=1))
    assert later == Exhausted("wall_seconds", 58, 58)


def test_a_limit_is_announced_once() -> None:
    found = Exhausted("calls", 1, 1)
    said = Draft("main", BudgetExhausted(scope="run", limit="calls", used=1, cap=1))
    assert budget.announce(given(requested()), found) == [said]
    assert budget.announce(given(requested(), said), found) == []


def test_a_finished_attempt_settles_all_its_blocks_once() -> None:
    """By what its recorded calls used; a restart has a grant of its own."""
    past = [
        requested(), granted(), reserved(), called(10, ATTEMPT, usd="0.01"),
        granted("g2"), reserved("g2"), called(5, ATTEMPT),
    ]  # fmt: skip
    assert budget.settle(given(*past), ATTEMPT, NOW) == []
    settled = [
        Draft("g1", BudgetSettled(grant="g1", tokens=10, calls=1, usd=Decimal("0.01")), 1),
        Draft("g2", BudgetSettled(grant="g2", tokens=5, calls=1), 1),
    ]
    assert budget.settle(given(*past, finished()), ATTEMPT, NOW) == settled
    assert budget.settle(given(*past, finished(), *settled), ATTEMPT, NOW) == []


def test_the_state_follows_the_tightest_cap() -> None:
    def state(spent: int) -> object:
        view = given(requested(Budget(tokens=100, calls=1000)), called(spent))
        return budget.report(view, NOW)["state"]

    assert [state(n) for n in (0, 69, 70, 89, 90, 200)] == [
        "NORMAL", "NORMAL", "TIGHT", "TIGHT", "CRITICAL", "CRITICAL",
    ]  # fmt: skip


def ask(purpose: str = "epoch", restart: int = 0) -> TokenFor:
    return TokenFor(
        run=RUN, attempt=ATTEMPT, agent="a0001", genome=SHA, purpose=purpose, epoch=1,
        restart=restart, expires_at=NOW.timestamp(),
    )  # fmt: skip


def test_a_grant_and_its_block_are_issued_once() -> None:
    drafts = grant.issue(given(requested()), ask())
    assert [d.data.type for d in drafts] == ["grant.issued", "budget.reserved"]
    assert grant.issue(given(requested(), *drafts), ask()) == []
    assert grant.issue(given(requested(), *drafts), ask(restart=1)) != []


def test_a_block_is_a_small_part_of_what_is_free() -> None:
    """A later grant finds something left."""
    view = given(requested(Budget(tokens=800, calls=16)), called(0))
    assert budget.block(view) == (100, 1)


def test_a_trial_reserves_nothing() -> None:
    drafts = grant.issue(given(requested()), ask("trial"))
    assert [d.data.type for d in drafts] == ["grant.issued"]
    assert drafts[0].data.scopes == ("trial",)


def test_nothing_is_granted_after_the_end() -> None:
    completed = RunCompleted.model_construct()
    assert grant.issue(given(), ask()) == []
    assert grant.issue(given(requested(), finished()), ask()) == []
    assert grant.issue(given(requested(), Draft("main", completed)), ask()) == []
