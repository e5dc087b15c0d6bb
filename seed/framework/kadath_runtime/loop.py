"""The life of an attempt: passes with a fresh context each, until there is a reason to stop."""

import os
import time
import traceback
from typing import Any
from urllib.parse import urlencode

from smolagents.models import ChatMessage, MessageRole
from smolagents.utils import AgentError

from kadath_runtime import passes, prompt, task
from kadath_runtime.body import Body
from kadath_runtime.gateway import Gateway
from kadath_runtime.horizon import Horizon, Stop
from kadath_runtime.model import ModelFailed
from kadath_runtime.passes import Outcome, Pass, Progress
from kadath_runtime.records import clip, read_json, write_json

MAX_FAILURES_IN_A_ROW = 3
MEMORIES = 8
DONE, CRASHED, UNAVAILABLE = 0, 1, 69


def main(token: str) -> int:
    """The exit code: 0 with a result.json, 69 when no model was there, 1 when every pass failed."""
    now = time.time()
    assigned, places = task.load(now)
    horizon = Horizon(assigned, places.signals, now)
    gateway = Gateway(os.environ.get("OPENAI_BASE_URL", "http://127.0.0.1:8700/v1"), token)
    body = Body(assigned, places, horizon, gateway)
    try:
        horizon.arm()
        return trial(body) if assigned.purpose == "trial" else Life(body).run()
    except Stop:
        # Before the first pass or between two: what is on disk is complete.
        return DONE if (places.state / "result.json").exists() else UNAVAILABLE
    finally:
        horizon.disarm()
        body.close()


def trial(body: Body) -> int:
    """Start everything, use everything once: one model call, one step of the interpreter."""
    agent = body.agent(1)
    agent.python_executor.send_tools(agent.tools)
    assert agent.python_executor("6 * 7").output == "42"
    messages = [
        ChatMessage(
            role=MessageRole.SYSTEM, content=[{"type": "text", "text": agent.system_prompt}]
        ),
        ChatMessage(
            role=MessageRole.USER,
            content=[{"type": "text", "text": "Answer with one word: ready."}],
        ),
    ]
    try:
        answer = body.model.generate(messages)
    except ModelFailed as error:
        print(f"trial: {error}", flush=True)
        return UNAVAILABLE
    _write_result(
        body,
        f"started; the model said: {clip(str(answer.content), 200)}",
        Progress(body.task.attempt),
    )
    return DONE


class Life:
    """The passes of one attempt and what they leave behind."""

    def __init__(self, body: Body):
        self.body, self.task = body, body.task
        self.path = body.places.state / "progress.json"
        self.reflects = self.task.purpose == "reflection"
        # A reflection sees the epoch's progress as done before; it is one pass, never resumed.
        self.progress = passes.read(self.path, "" if self.reflects else self.task.attempt)
        self.candidates = body.candidates
        self.failures = 0
        self.ended_by: ModelFailed | None = None
        if self.progress.is_new:
            self._begin()
        elif self.progress.best is not None:
            self.candidates.holds_best = read_json(self.candidates.path) is not None

    def run(self) -> int:
        try:
            while self._goes_on():
                self._live_once(self.progress.passes + 1)
        except Stop:
            # The stop came between the passes' own records; they are whole.
            self.body.horizon.disarm()
        return self._finish()

    def _goes_on(self) -> bool:
        limit = 1 if self.reflects else self.task.passes
        enough = 0 < limit <= self.progress.passes
        broken = self.ended_by is not None or self.failures >= MAX_FAILURES_IN_A_ROW
        return not (enough or broken or self.body.horizon.finalizing())

    def _live_once(self, number: int) -> None:
        self.candidates.begin_pass()
        self.body.activity.last_summary = ""
        stopped: Stop | None = None
        try:
            outcome, answer = self._worked(number)
        except Stop as stop:
            self.body.horizon.disarm()
            # No waiting for anyone any more.
            self.body.gateway.offline = True
            outcome, answer, stopped = "finalized", None, stop
        self._record(self._done(number, outcome, answer))
        if stopped is not None:
            raise stopped

    def _worked(self, number: int) -> tuple[Outcome, Any]:
        """One agent from its first step to its answer; only `Stop` gets out."""
        try:
            agent = self.body.agent(number)
            answer = agent.run(self._assignment())
            return ("answered", answer) if answer is not None else ("unfinished", None)
        except AgentError as error:
            return self._ended(error)
        except Exception as error:
            return "failed", "".join(traceback.format_exception_only(error)).strip()

    def _ended(self, error: AgentError) -> tuple[Outcome, Any]:
        if isinstance(error.__cause__, ModelFailed):
            cause = error.__cause__
            # A refused request may be this pass's fault; without money or time no other comes.
            self.ended_by = None if cause.kind == "refused" else cause
            return ("finalized" if cause.kind == "budget" else "failed"), str(cause)
        return ("finalized", None) if "interrupted" in str(error) else ("failed", str(error))

    def _assignment(self) -> str:
        wanted = self.task.purpose == "epoch" and "search_memory" in self.body.tools
        query = urlencode({"q": self.task.goal[:300], "limit": MEMORIES})
        found = self.body.gateway.ask("GET", f"/memory?{query}") if wanted else None
        records = found.get("records") if isinstance(found, dict) else None
        memories = [item for item in records or [] if isinstance(item, dict)][:MEMORIES]
        return prompt.assignment(self.task, self.progress.text(), memories, self.body.shape)

    def _done(self, number: int, outcome: Outcome, answer: Any) -> Pass:
        answered, saved = outcome == "answered", self.candidates.was_saved
        if answered and not saved:
            self.candidates.saved = answer
        said = self.body.activity.last_summary or (
            passes.summarized(answer) if answer is not None else ""
        )
        self.failures = self.failures + 1 if outcome == "failed" else 0
        return Pass(
            number=number,
            outcome=outcome,
            summary=said or "no answer",
            valid=saved or answered,
            saved=saved,
            provisional=passes.reported(answer) if answered else None,
        )

    def _record(self, done: Pass) -> None:
        """Candidate first, then what points to it."""
        if self.progress.add(done, self.task.higher_is_better) and not self.reflects:
            write_json(self.candidates.path, self.candidates.saved)
            self.candidates.holds_best = True
        if not self.body.activity.last_summary:
            self.body.activity.log_activity(
                f"Pass {done.number}: {done.summary}"[:2000], outcome=done.outcome
            )
        if not self.reflects:
            self.progress.write(self.path)
        if self.body.model.answered or self.progress.best:
            _write_result(self.body, done.summary, self.progress)

    def _finish(self) -> int:
        if self.reflects and self.body.model.answered:
            self.body.proposal.settle()
        budget = self.ended_by is not None and self.ended_by.kind == "budget"
        if not (self.body.model.answered or self.progress.best or budget):
            # Nobody answered: an outage is not this organism's failure, so it claims no result.
            return UNAVAILABLE
        if self.failures >= MAX_FAILURES_IN_A_ROW and self.progress.best is None:
            (self.body.places.state / "result.json").unlink(missing_ok=True)
            return CRASHED
        best = self.progress.best
        _write_result(
            self.body, best.summary if best else str(self.ended_by or "no answer"), self.progress
        )
        return DONE

    def _begin(self) -> None:
        """An inherited answer is not this attempt's answer, nor is the trace of another's steps."""
        kept = {"candidate.json", "activity.jsonl"} if self.reflects else set()
        for name in {
            "candidate.json",
            "activity.jsonl",
            "step-trace.jsonl",
            "result.json",
            "mutation.json",
        } - kept:
            (self.body.places.state / name).unlink(missing_ok=True)
        self.progress.begun = True
        if not self.reflects:
            self.progress.write(self.path)


def _write_result(body: Body, summary: str, progress: Progress) -> None:
    best = progress.best
    write_json(
        body.places.state / "result.json",
        {
            "status": "done",
            "summary": clip(summary, 2000),
            "provisional": best.provisional if best else None,
            "passes": progress.passes,
            "best_pass": best.number if best else 0,
        },
    )
