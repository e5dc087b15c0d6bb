"""Rules of measuring: what a benchmark is, what evidence is, what a score is, who is first."""

import base64
from typing import Any

from pydantic import TypeAdapter

from kadath.audit.rules_past import SHA, Blobs, Json, kept, tree_of
from schemas import TreeRef, canonical
from schemas.events.attempt import AttemptFinished
from schemas.events.evidence import EvidenceFrozen
from schemas.events.grading import GradingOpened
from schemas.events.score import ScoreComputed
from schemas.values.answers import ANSWERS, ChunkReview, CriterionFact, Facts
from schemas.values.benchmark import Benchmark
from schemas.values.population import AttemptRow
from services.architect.core import contract, drafting
from services.grader.core import chunking, facts, grading, measurement, opening, ranking, scoring
from services.grader.core.view import Judging, View
from services.sandbox.core import freezing


def benchmark(given: Json) -> Json:
    """Every rule that a benchmark breaks, with its path."""
    found, broken = drafting.parse(canonical(given["benchmark"]))
    tools, connectors = given.get("tools", ()), given.get("connectors", ())
    if found is not None:
        inventory = contract.Inventory(frozenset(tools), frozenset(connectors))
        broken = contract.violations(found, inventory)
    return {"valid": not broken, "violations": [v.model_dump() for v in broken]}


def schema(given: Json) -> Json:
    """Every field name that a specialist's answer may have, as published to the model."""
    document = ANSWERS[given["answer"]].model_json_schema()
    parts = [document, *document.get("$defs", {}).values()]
    return {"fields": sorted({name for part in parts for name in part.get("properties", ())})}


def score(given: Json) -> Json:
    """The score of measured, kernel-held and judged facts by the locked formulas."""
    found = scoring.score(_benchmark(given), _facts(given), given.get("forced"))
    return {
        "outcome": found.outcome,
        "score": str(found.score),
        "tie_break": str(found.tie_break),
        "points": {c.id: str(c.points) for c in found.criteria},
        "failures": list(found.failures),
        "fraud": list(found.fraud),
        "reason": found.reason,
    }


def _benchmark(given: Json) -> Benchmark:
    return Benchmark.model_validate(given["benchmark"])


def _facts(given: Json) -> scoring.Facts:
    judged = {
        name: CriterionFact.model_validate({"criterion_id": name, **fact})
        for name, fact in given.get("judged", {}).items()
    }
    return scoring.Facts(
        measured=given.get("measured", {}),
        kernel=given.get("kernel", {}),
        judged=judged,
        tie_breaks=given.get("tie_breaks", {}),
        triggered=frozenset(given.get("triggered", ())),
        passed=frozenset(given.get("passed", ())),
    )


def rank(given: Json) -> Json:
    """Agents best first: success, score, tie-break, then the lower agent number."""
    scores = [
        ScoreComputed.model_validate(
            {"attempt": "", "genome": SHA, "outcome": "success", "tie_break": 0, "criteria": []}
            | {"formula_version": scoring.FORMULA_VERSION}
            | row
        )
        for row in given["scores"]
    ]
    return {"agents": [row.agent for row in ranking.rank(scores)]}


def presence(given: Json) -> Json:
    """Required outputs that an attempt did not make itself, and whether that fails it."""
    blobs, outputs = Blobs(), given["required"]
    wanted = [{"description": ref, "evidence_ref": ref} for ref in outputs]
    found = _benchmark(given | {"benchmark": given["benchmark"] | {"required_outputs": wanted}})
    marks: dict[str, str] = given.get("files", {})
    evidence = _frozen(blobs, given, marks)
    missing = opening.missing_outputs(View("", blobs.read), found, evidence)
    row = AttemptRow(agent="a0001", attempt="", outcome=given.get("outcome", "completed"))
    return {"missing": list(missing), "failed": opening.forced_failure(row, evidence, missing)}


def _frozen(blobs: Blobs, given: Json, marks: dict[str, str]) -> EvidenceFrozen:
    """As the sandbox would freeze it; `rejected` counts links, sockets and the like."""
    manifest = kept(blobs, tree_of(dict.fromkeys(marks, b""), marks.get))
    candidate = given.get("candidate")
    valid = candidate is not None and freezing.valid_candidate(candidate.encode())
    return EvidenceFrozen(
        attempt="",
        agent="a0001",
        genome=SHA,
        manifest=TreeRef(sha256=manifest.sha256, size=manifest.size),
        files=len(marks),
        bytes=0,
        new=len(marks),
        activity=freezing.activity_lines(given.get("activity", "").encode()),
        candidate=blobs.keep(candidate.encode()) if valid else None,
        rejected_count=given.get("rejected", 0),
    )


def evidence(given: Json) -> Json:
    """What of an attempt's files a model is shown: new text; nothing unreadable stops it."""
    blobs = Blobs()
    contents = {path: _content(file) for path, file in given["files"].items()}
    for content in contents.values():
        blobs.keep(content)
    view = View("", blobs.read)
    view.benchmark = _benchmark(given)
    tree = kept(blobs, tree_of(contents, lambda path: given["files"][path].get("mark", "new")))
    frozen = _frozen(blobs, {}, {})
    manifest = TreeRef(sha256=tree.sha256, size=tree.size)
    view.evidence["x"] = frozen.model_copy(update={"manifest": manifest})
    view.judging["x"] = Judging(GradingOpened(attempt="x", agent="a0001", genome=SHA))
    return {"fragments": [f.id for f in grading.evidence_fragments(view, "x")]}


def _content(file: Json) -> bytes:
    return base64.b64decode(file["base64"]) if "base64" in file else file["text"].encode()


def chunks(given: Json) -> Json:
    """How evidence is cut and packed; `chars` stands for a text of that length."""
    items = []
    for item in given["items"]:
        text = item.get("text", item["ref"][:1] * item.get("chars", 0))
        items += chunking.fragments(item["ref"], text)
    packed = chunking.chunks(items)
    return {
        "chunks": [[f.id for f in chunk] for chunk in packed],
        "chars": [sum(len(f.text) for f in chunk) for chunk in packed],
    }


def review(given: Json) -> Json:
    """What is wrong with a chunk's review: fragments missing, unknown or repeated."""
    found = ChunkReview.model_validate(given["review"])
    broken = facts.review_violations(found, given["supplied"], given.get("refs", ()))
    return {"violations": [v.model_dump() for v in broken]}


def extracted(given: Json) -> Json:
    """What is wrong with extracted facts: items, types, references, evidence classes."""
    found = Facts.model_validate(given["facts"])
    broken = facts.facts_violations(found, _benchmark(given), given.get("refs", ()))
    return {"violations": [v.model_dump() for v in broken]}


def verdict(given: Json) -> Json:
    """Whether the end of a measuring program is a measurement, and why not."""
    blobs, output = Blobs(), given.get("output")
    finished = AttemptFinished(
        outcome=given.get("outcome", "completed"),
        because=given.get("because", ""),
        result=None if output is None else blobs.keep(output.encode()),
    )
    if finished.outcome == "cancelled":
        return {"verdict": "measured again", "reason": None}
    reason = measurement.failure(finished, blobs.read)
    return {"verdict": "failed" if reason else "recorded", "reason": reason}


def pointer(given: Json) -> Json:
    """The value at a JSON pointer into a program's answer, or null."""
    document: Any = TypeAdapter(Any).validate_python(given["document"])
    return {"value": scoring.pointed(document, given["pointer"])}


OPS = {
    "benchmark": benchmark,
    "schema": schema,
    "score": score,
    "rank": rank,
    "presence": presence,
    "evidence": evidence,
    "chunks": chunks,
    "review": review,
    "facts": extracted,
    "measurement": verdict,
    "pointer": pointer,
}
