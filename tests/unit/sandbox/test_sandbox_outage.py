"""Whose fault it was that a model did not answer."""

import pytest

from services.sandbox.core.view import View
from tests.support.calls import answered, failed
from tests.support.given import START, Past, opened, queued, started

ONE, TWO = "e001x1-a0001", "e001x1-a0002"


def running() -> Past[View]:
    past = Past(View)
    past.given(opened(past, ["a0001", "a0002"]), of="e001")
    for attempt in (ONE, TWO):
        past.given(queued(attempt), started(START), of=attempt)
    return past


def unserved(*calls, attempt: str = ONE) -> bool:
    return running().given(*calls, of="c1").view.outage.unserved(attempt)


@pytest.mark.parametrize("kind", ["timeout", "rate", "provider"])
def test_a_provider_that_never_answered_is_out(kind):
    """One fault tells, when there was no answer at all."""
    assert unserved(failed(ONE, kind))
    assert not unserved(failed(TWO, kind))
    assert not unserved()


@pytest.mark.parametrize("kind", ["contract", "truncated", "empty", "encoding"])
def test_a_bad_answer_is_no_outage(kind):
    """The provider works."""
    assert not unserved(failed(ONE, kind))


def test_a_fault_that_no_try_can_cure_is_the_requests_own():
    """Such as a request that the provider refuses."""
    assert not unserved(failed(ONE, "provider", retryable=False))


def test_an_attempt_that_was_answered_must_have_given_up():
    """A few faults in a row are the weather; the next answer makes good for them."""
    faults = [failed(ONE)] * 5
    assert not unserved(answered(ONE), *faults[:4])
    assert unserved(answered(ONE), *faults)
    assert not unserved(answered(ONE), *faults, answered(ONE))


def test_who_fails_while_others_are_answered_fails_alone():
    """So no organism can hold up a run by itself."""
    assert not unserved(failed(ONE), answered(TWO), failed(ONE))
    assert not unserved(failed(ONE), answered(None), failed(ONE))
    assert unserved(answered(TWO), failed(ONE), failed(ONE), answered(TWO))


def test_another_models_answers_say_nothing():
    """The specialists' model may be up while the organisms' is down."""
    assert unserved(failed(ONE), answered(None, model="big"), failed(ONE))


def test_a_new_start_begins_a_new_row():
    """What was answered before stays answered: the journal replays it."""
    past = running().given(answered(ONE), *[failed(ONE)] * 5, of="c1")
    past.given(started(START, restart=1), of=ONE)
    assert not past.view.outage.unserved(ONE)
    past.given(*[failed(ONE)] * 4, of="c1")
    assert not past.view.outage.unserved(ONE)
    assert past.given(failed(ONE), of="c1").view.outage.unserved(ONE)


def test_a_new_epoch_forgets_the_attempts_of_the_last():
    """But not one that still runs."""
    past = running().given(failed(ONE), failed(TWO), of="c1")
    past.view.attempts.pop(TWO)
    past.given(opened(past, ["a0001"], epoch=2), of="e002")
    assert (past.view.outage.unserved(ONE), past.view.outage.unserved(TWO)) == (True, False)
