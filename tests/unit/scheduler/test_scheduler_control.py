"""Commands of an operator."""

from schemas.commands import Refused
from schemas.commands.run import CancelRun, PauseRun, RequestRun, ResumeRun
from schemas.events.run import (
    RunCancelled,
    RunCancelRequested,
    RunPaused,
    RunPauseRequested,
    RunResumed,
)
from services.scheduler.core import control
from services.scheduler.core.view import View
from tests.support.given import RUN, START, Past, facts, kinds, requested

ASK = RequestRun(run=RUN, command="c", request=requested())


def past() -> Past[View]:
    return Past(View).given(requested())


def test_a_new_run_is_requested_once():
    """The same request again changes nothing, another one is refused."""
    assert [requested()] == facts(control.request(Past(View).view, ASK, START))
    assert control.request(past().view, ASK, START) == []
    other = ASK.model_copy(update={"request": requested(goal="Another.")})
    assert isinstance(control.request(past().view, other, START), Refused)


def test_a_run_id_has_its_grammar():
    """It becomes part of subjects and paths."""
    for bad in ("../x", "run-1", "r20260101-000000-00000G", ""):
        ask = ASK.model_copy(update={"run": bad})
        assert isinstance(control.request(Past(View).view, ask, START), Refused)


def test_unknown_and_ended_runs_take_no_commands():
    """With a hint where to look."""
    ended = past().given(RunCancelled())
    for view in (Past(View).view, ended.view):
        assert isinstance(control.pause(view, PauseRun(run=RUN, command="c"), START), Refused)
        assert isinstance(control.resume(view, ResumeRun(run=RUN, command="c"), START), Refused)
        assert isinstance(control.cancel(view, CancelRun(run=RUN, command="c"), START), Refused)


def test_a_pause_is_wished_once_and_may_become_stricter():
    """A paused run cannot be paused."""
    command = PauseRun(run=RUN, command="c", mode="epoch")
    found = past()
    drafts = control.pause(found.view, command, START)
    assert kinds(drafts) == ["run.pause_requested"]
    assert control.pause(found.then(drafts).view, command, START) == []
    now = command.model_copy(update={"mode": "now"})
    assert kinds(control.pause(found.view, now, START)) == ["run.pause_requested"]
    found.given(RunPaused(cause="operator", phase="executing"))
    assert isinstance(control.pause(found.view, command, START), Refused)


def test_only_a_paused_run_or_a_wish_can_be_resumed():
    """Resuming a wish takes it back."""
    command = ResumeRun(run=RUN, command="c")
    assert isinstance(control.resume(past().view, command, START), Refused)
    wished = past().given(RunPauseRequested(mode="epoch"))
    assert [RunResumed()] == facts(control.resume(wished.view, command, START))


def test_a_run_is_cancelled_once():
    """A second command changes nothing."""
    command = CancelRun(run=RUN, command="c", reason="enough")
    assert [RunCancelRequested(reason="enough")] == facts(
        control.cancel(past().view, command, START)
    )
    again = past().given(RunCancelRequested())
    assert control.cancel(again.view, command, START) == []
