"""Rules of running: attempts, what they leave, pauses, phases, the log itself."""

from datetime import timedelta

from kadath.audit.rules_past import (
    RUN,
    START,
    Blobs,
    Json,
    Step,
    event_of,
    fold,
    plain,
    texts,
    tree_of,
)
from schemas import BlobRef, canonical, ids
from schemas.events.attempt import AttemptCrashed, AttemptQueued, AttemptRestarted, AttemptStarted
from schemas.events.model_call import Caller, ModelCallFailed, ModelCallRecorded
from schemas.events.run import RunPauseRequested
from schemas.values.runtime import Limits, Usage
from services.lineage.core import chain as hashes
from services.sandbox.core import attempt, freezing
from services.sandbox.core.view import View
from services.scheduler.core import next_step as scheduler
from services.scheduler.core.view import View as RunView

NOBODY = "0" * 64
EMPTY = BlobRef(sha256=NOBODY, size=0)
ONE = "e001x1-a0001"


def freeze(given: Json) -> Json:
    """What of a state is evidence with which mark, and what the next epoch starts from."""
    before, written = texts(given.get("before", {})), texts(given.get("written", {}))

    def mark(path: str) -> str:
        return "modified" if path in before else "new"

    changed = tree_of(written, mark).files
    found = freezing.split(tree_of(before), changed, given.get("deleted", ()))
    return {
        "evidence": {file.path: file.mark for file in found.evidence.files},
        "deleted": list(found.evidence.deleted),
        "state": [file.path for file in found.state.files],
    }


def crash(given: Json) -> Json:
    """What follows the end of a stay: finished, restarted, failed, or nobody's failure."""
    view, reason = _running(given), given["reason"]
    now = START + timedelta(seconds=given.get("at", 1))
    if reason == "lease_lost":
        drafts = attempt.start(view, ONE, now, "node")
    else:
        ended = attempt.Ended(reason, "", None, given.get("valid", False), 0.0, 0.0)
        drafts = attempt.end(view, ONE, now, ended)
    outcomes = [d["data"]["outcome"] for d in plain(drafts) if "outcome" in d["data"]]
    return {"events": [d.data.type for d in drafts], "outcome": outcomes[0] if outcomes else None}


def _running(given: Json) -> View:
    """An attempt that runs, after so many crashes of its own and so many lost leases."""
    view = View(RUN, Blobs().read)
    queued = AttemptQueued(
        attempt=ONE,
        purpose="epoch",
        limits=Limits(restarts=given.get("restarts", 3)),
        wall_seconds=given.get("wall_seconds", 60),
        finalize_seconds=2,
    )
    fold(view, Step(queued, ONE))
    reasons = ["exit"] * given.get("crashes", 0) + ["lease_lost"] * given.get("lost", 0)
    for restart, reason in enumerate(reasons):
        fold(view, Step(_started(queued, restart), ONE))
        crashed = AttemptCrashed.model_validate({"restart": restart, "reason": reason})
        fold(view, Step(crashed, ONE))
        fold(view, Step(AttemptRestarted(restart=restart + 1, seconds_left=1), ONE))
    fold(view, Step(_started(queued, len(reasons)), ONE))
    for seq, told in enumerate(given.get("calls", ()), start=2):
        fold(view, _call(seq, told))
    if given.get("stopping"):
        fold(view, Step(RunPauseRequested(mode="now")))
    return view


def _call(seq: int, given: Json) -> Step:
    """One answer or fault of the model, to this attempt or to another caller."""
    event = ModelCallRecorded if given["answered"] else ModelCallFailed
    attempt = ONE if given.get("mine", True) else "e001x1-a0002"
    caller = Caller(kind="organism", name="x", attempt=attempt)
    known = {"call": f"c{seq}", "key": NOBODY, "tape_key": NOBODY, "purpose": "chat", "model": "m"}
    refs = {"request": EMPTY, "response": EMPTY}
    fault = {"attempt_no": 1, "kind": given.get("kind", "provider"), "retryable": True}
    answer = {"finish": "stop", "usage": Usage(), "latency_ms": 1, "tries": 1}
    fields = {"caller": caller, **known, **refs, **fault, **answer}
    found = {key: value for key, value in fields.items() if key in event.model_fields}
    return Step(event.model_validate(found), f"c{seq}", seq)


def _started(queued: AttemptQueued, restart: int) -> AttemptStarted:
    deadline = START + timedelta(seconds=queued.wall_seconds)
    return AttemptStarted(
        restart=restart, node="node", started_at=START, finalize_at=deadline, deadline_at=deadline
    )


def finalize(given: Json) -> Json:
    """How long before its deadline an attempt is told to finish."""
    return {"finalize_seconds": scheduler.finalize_seconds(given["attempt_seconds"])}


def outputs(given: Json) -> Json:
    """Whether an organism's result, candidate and activity lines are valid."""
    content = given["text"].encode(errors="surrogatepass")
    return {
        "result": freezing.valid_result(content),
        "candidate": freezing.valid_candidate(content),
        "activity": freezing.activity_lines(content),
    }


def pause(given: Json) -> Json:
    """Whether a wish to pause takes effect at a boundary."""
    return {"pauses": given["mode"] in scheduler.STOPS_AT[given["boundary"]]}


def next_step(given: Json) -> Json:
    """The phase of a run and what the scheduler owes it, after the events given."""
    blobs = Blobs()
    for value in given.get("blobs", ()):
        blobs.keep(canonical(value))
    view = RunView(RUN, blobs.read)
    for seq, one in enumerate(given["events"], start=1):
        entity_id, seconds = one.get("entity_id", "main"), one.get("at", 0)
        fold(view, Step(event_of(one), entity_id, seq, seconds))
    now = START + timedelta(seconds=given.get("now", 0))
    drafts = scheduler.next_step(view, "main", now)
    return {"phase": scheduler.phase(view), "due": [d.data.type for d in drafts]}


def chain(given: Json) -> Json:
    """The head of the hash chain over the lines given, exactly as they are stored."""
    return {"head": hashes.head_of(line.encode() for line in given["lines"])}


def event_id(given: Json) -> Json:
    """The id of an event: a function of its run, its entity and its position."""
    place = given.get("run", RUN), given["entity"], given["entity_id"], given["position"]
    return {"id": ids.event_id(*place)}


OPS = {
    "freeze": freeze,
    "crash": crash,
    "finalize": finalize,
    "outputs": outputs,
    "pause": pause,
    "next_step": next_step,
    "chain": chain,
    "event_id": event_id,
}
