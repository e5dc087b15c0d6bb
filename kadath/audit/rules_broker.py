"""Rules of the broker: keys of calls, secrets, memories and their ratings."""

from kadath.audit.rules_past import SHA, Blobs, Json, Step, fold
from schemas import canonical
from schemas.events.agent import AgentBorn
from schemas.events.memory import MemoryPublished
from schemas.values.population import CohortRow
from services.broker.core import journal, memory, ranking
from services.broker.core.redaction import Redactor
from services.broker.core.trust import Trust
from services.broker.core.view import Grant, View


def call_key(given: Json) -> Json:
    """The keys under which a model's answer is kept: for this run, and for a replay."""
    caller = given["caller"]
    if "own_crashes" in given:
        caller = journal.organism(caller, given["own_crashes"])
    request = canonical(given["request"])
    found = journal.keys(given["run"], caller, given.get("occurrence", 0), request)
    return {"call": found.call, "tape": found.tape, "id": journal.call_id(found.call)}


def same_call(given: Json) -> Json:
    """Whether two model calls share an answer in their run, and on a tape."""
    one, two = call_key(given["one"]), call_key(given["two"])
    return {"call": one["call"] == two["call"], "tape": one["tape"] == two["tape"]}


def redact(given: Json) -> Json:
    """A JSON value without secrets: by value, by key name, by shape."""
    return {"value": Redactor(given.get("secrets", {})).value(given["value"])}


def ranked(given: Json) -> Json:
    """Which memories a reader finds for a query, best first."""
    trust = Trust()
    for epoch, rows in given.get("cohorts", {}).items():
        trust.assign(int(epoch), [CohortRow.model_validate(row) for row in rows])
    found = ranking.rank(
        [_candidate(n, record) for n, record in enumerate(given["records"])],
        given.get("query", ""),
        [ranking.Vote(v["record"], v["rater"], v["value"]) for v in given.get("votes", ())],
        trust,
        given.get("reader", "a0001"),
        given.get("epoch"),
        given.get("limit", 10),
    )
    return {"records": [one.candidate.record for one in found]}


def _candidate(seq: int, record: Json) -> ranking.Candidate:
    return ranking.Candidate(
        record=record["record"],
        agent=record.get("agent", "a0009"),
        kind=record.get("kind", "finding"),
        summary=record.get("summary", ""),
        body=record.get("body", ""),
        has_evidence=record.get("evidence", False),
        content_sha=record.get("content", record["record"]),
        scope=record.get("scope", "population"),
        epoch=record.get("epoch", 1),
        seq=seq,
    )


def rating(given: Json) -> Json:
    """Whether a vote counts: never for oneself, nor for one's own line."""
    view = View("", Blobs().read)
    for child, parent in given.get("parents", {}).items():
        event = AgentBorn(agent=child, genome=SHA, birth_epoch=1, memory_from=parent)
        fold(view, Step(event, child, 9))
    published = MemoryPublished(
        record="m",
        agent=given["author"],
        kind="finding",
        summary="x",
        visibility=given.get("visibility", "population"),
        content_sha=SHA,
    )
    fold(view, Step(published, "m", 10))
    grant = Grant("g", "e001x1-x", given["rater"], SHA, ("memory",), 1)
    found = memory.rate(view, grant, given.get("record", "m"), given.get("value", 1))
    refused = found if isinstance(found, memory.Invalid) else None
    return {"counts": refused is None, "why": refused.reason if refused else None}


def note(given: Json) -> Json:
    """Whether an organism may publish a memory, cleaned and bounded."""
    found = memory.note(given["note"])
    refused = found if isinstance(found, memory.Invalid) else None
    return {"accepted": refused is None, "why": refused.reason if refused else None}


OPS = {
    "call_key": call_key,
    "same_call": same_call,
    "redact": redact,
    "memory": ranked,
    "rating": rating,
    "note": note,
}
