"""The life of a real organism process: passes, best pass, signals, deadlines, trouble."""

import signal
import time

import pytest

from tests.support.attempt import Attempt
from tests.support.stub_model import BUDGET_EXHAUSTED, Reply, StubModel, fenced, in_turn

ANSWER = fenced("save_candidate({'n': 3})\nfinal_answer({'summary': 'three', 'provisional': 3})")


def numbered(*values: float) -> StubModel:
    """Each pass answers with the next value."""
    return StubModel(
        in_turn(*[fenced(f"final_answer({{'n': {v}, 'provisional': {v}}})") for v in values])
    )


def test_the_real_seed_starts_works_and_leaves_a_valid_result() -> None:
    """One pass, one answer, every file of the protocol."""
    with (
        StubModel(in_turn(fenced("x = 1\nprint('seen', x)"), ANSWER)) as stub,
        Attempt() as attempt,
    ):
        attempt.run(stub.base_url)
        assert attempt.json("candidate.json") == {"n": 3}
        assert attempt.json("result.json") == {
            "status": "done",
            "summary": "three",
            "provisional": 3.0,
            "passes": 1,
            "best_pass": 1,
        }
        assert attempt.json("progress.json")["passes"] == 1
        assert [(line["pass"], line["step"]) for line in attempt.lines("step-trace.jsonl")] == [
            (1, 1),
            (1, 2),
        ]
        assert attempt.lines("activity.jsonl")[0]["outcome"] == "answered"
        assert [chat["metadata"] for chat in stub.chats] == [
            {"phase": "epoch", "pass": "1", "step": "1"},
            {"phase": "epoch", "pass": "1", "step": "2"},
        ]
        assert "seen 1" in stub.chats[1]["messages"][-1]["content"]


def test_the_best_pass_counts_not_the_last() -> None:
    """A worse later answer never takes the better one's place."""
    with numbered(2, 5, 4) as stub, Attempt(passes=3) as attempt:
        attempt.run(stub.base_url)
        result = attempt.json("result.json")
        assert (result["passes"], result["best_pass"], result["provisional"]) == (3, 2, 5)
        assert attempt.json("candidate.json")["n"] == 5


def test_smaller_is_better_when_the_task_says_so() -> None:
    """The direction is the task's."""
    with numbered(2, 5, 4) as stub, Attempt(passes=3, extra={"higher_is_better": False}) as attempt:
        attempt.run(stub.base_url)
        assert attempt.json("candidate.json")["n"] == 2


def test_without_numbers_the_last_valid_pass_counts() -> None:
    """A pass that saved nothing is not valid."""
    script = in_turn(
        fenced("save_candidate('a')\nfinal_answer('x')"),
        fenced("save_candidate('b')\nfinal_answer('x')"),
        fenced("1"),
    )
    with StubModel(script) as stub, Attempt(passes=3, steps=2) as attempt:
        attempt.run(stub.base_url)
        assert attempt.json("candidate.json") == "b"
        assert attempt.json("result.json")["best_pass"] == 2


def test_each_pass_has_a_fresh_context_and_sees_the_progress() -> None:
    """Variables and turns are gone, the summary of the pass before is not."""
    script = in_turn(
        fenced("x = 1\nfinal_answer('first done')"), fenced("final_answer('x' in globals())")
    )
    with StubModel(script) as stub, Attempt(passes=2) as attempt:
        attempt.run(stub.base_url)
        assert attempt.json("candidate.json") is False
        assert "first done" in stub.chats[1]["messages"][1]["content"]


def test_the_finalisation_signal_ends_the_passes() -> None:
    """The organism stops by itself long before its time, with its answer kept."""
    code = fenced("import time\nsave_candidate(1)\ntime.sleep(0.05)")
    with StubModel(in_turn(code)) as stub, Attempt(passes=0, steps=1000) as attempt:
        process = attempt.start(stub.base_url)
        _until(lambda: len(stub.chats) >= 3)
        (attempt.signals / "finalize").touch()
        assert process.wait(timeout=5) == 0
        assert attempt.json("result.json")["status"] == "done"
        assert attempt.json("candidate.json") == 1


@pytest.mark.parametrize(
    "code",
    [
        "import time\nsave_candidate(7)\ntime.sleep(60)",
        "save_candidate(7)\nwhile True: pass",
        "save_candidate(7)\nrun_command('sleep 60', 120)",
    ],
)
def test_it_finishes_before_the_deadline_whatever_the_code_does(code: str) -> None:
    """Code that does not end is cut off; the candidate saved before counts."""
    with StubModel(in_turn(fenced(code))) as stub, Attempt(seconds=0.5, window=1.0) as attempt:
        deadline = time.time() + 1.5
        attempt.run(stub.base_url)
        assert time.time() < deadline + 0.1
        assert attempt.json("candidate.json") == 7
        assert attempt.json("result.json")["best_pass"] == 1


def test_a_model_that_does_not_answer_cannot_hold_it_beyond_the_deadline() -> None:
    """No answer at all is an outage: no result is claimed."""
    with (
        StubModel(in_turn(Reply(delay_seconds=5.0))) as stub,
        Attempt(seconds=0.5, window=1.0) as attempt,
    ):
        attempt.run(stub.base_url, expect=69)
        assert attempt.json("result.json") is None


def test_terminated_it_leaves_what_it_has() -> None:
    """SIGTERM is the kernel's last word before it kills."""
    with (
        StubModel(in_turn(fenced("import time\nsave_candidate(5)\ntime.sleep(60)"))) as stub,
        Attempt() as attempt,
    ):
        process = attempt.start(stub.base_url)
        _until(lambda: attempt.json("candidate.json") == 5)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=3) == 0
        assert attempt.json("result.json")["best_pass"] == 1


def test_an_exhausted_budget_ends_it_cleanly() -> None:
    """What was reached until then is the result."""
    script = in_turn(fenced("save_candidate(4)"), BUDGET_EXHAUSTED)
    with StubModel(script) as stub, Attempt(passes=0) as attempt:
        attempt.run(stub.base_url)
        assert attempt.json("candidate.json") == 4
        assert len(stub.chats) == 2


def test_transient_trouble_is_retried() -> None:
    """A broken body, a rate limit and an empty answer list, then an answer."""
    trouble = [
        Reply(200, raw=b"{no json"),
        Reply(429, {"error": {"type": "rate_limit"}}),
        Reply(200, {"choices": []}),
    ]
    with StubModel(in_turn(*trouble, ANSWER)) as stub, Attempt() as attempt:
        attempt.run(stub.base_url)
        assert attempt.json("candidate.json") == {"n": 3}
        assert len(stub.chats) == 4


def test_a_refused_request_fails_its_pass_and_the_next_begins() -> None:
    """The crash of one pass is recorded, not fatal."""
    with (
        StubModel(in_turn(Reply(400, {"error": {"message": "no"}}), ANSWER)) as stub,
        Attempt(passes=2) as attempt,
    ):
        attempt.run(stub.base_url)
        assert [item["outcome"] for item in attempt.json("progress.json")["history"]] == [
            "failed",
            "answered",
        ]
        assert attempt.json("result.json")["best_pass"] == 2


def test_nothing_but_refusals_is_no_result() -> None:
    """Three failed passes in a row end the attempt."""
    with (
        StubModel(in_turn(Reply(401, {"error": {"message": "no"}}))) as stub,
        Attempt(passes=0) as attempt,
    ):
        attempt.run(stub.base_url, expect=69)
        assert len(stub.chats) == 3


def test_a_restart_of_the_same_attempt_goes_on() -> None:
    """Pass numbers and the best answer survive; another attempt starts anew but remembers."""
    with numbered(6, 2) as stub, Attempt(passes=1) as attempt:
        attempt.run(stub.base_url)
        attempt.passes = 2
        attempt.run(stub.base_url)
        assert attempt.json("candidate.json")["n"] == 6
        assert attempt.json("result.json")["passes"] == 2
        attempt.extra = {"attempt": "e002x1-a0001"}
        attempt.run(stub.base_url)
        assert "From earlier epochs" in stub.chats[2]["messages"][1]["content"]
        assert attempt.json("candidate.json")["n"] == 2


def test_killed_in_its_first_pass_it_loses_no_saved_answer() -> None:
    """A restart of the attempt finds the candidate; another attempt would not."""
    sleeping = fenced("import time\nsave_candidate(8)\ntime.sleep(60)")
    with StubModel(in_turn(sleeping, fenced("1"))) as stub, Attempt(steps=1) as attempt:
        process = attempt.start(stub.base_url)
        _until(lambda: attempt.json("candidate.json") == 8)
        process.kill()
        process.communicate()
        attempt.run(stub.base_url)
        assert attempt.json("candidate.json") == 8
        attempt.extra = {"attempt": "e002x1-a0001"}
        attempt.run(stub.base_url)
        assert attempt.json("candidate.json") is None


def test_a_trial_starts_everything_and_calls_the_model_once() -> None:
    """The smoke test of a birth."""
    with StubModel(in_turn("ready")) as stub, Attempt(purpose="trial") as attempt:
        attempt.run(stub.base_url)
        assert attempt.json("result.json")["status"] == "done"
        assert len(stub.chats) == 1
        assert stub.chats[0]["metadata"]["phase"] == "trial"


def _until(condition: object, seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
