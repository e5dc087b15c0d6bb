"""Writes schemas/examples: one sensible message of every event. `python -m tests.support.examples`

A checked-in example of an old version is never rewritten: it is what old logs hold.
"""

import json
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from schemas import Actor, BlobRef, Envelope, Event, GenomeRef, TreeRef, encode, ids
from schemas.events import OWNER
from schemas.events.agent import AgentArchived, AgentBorn, AgentGenomeActivated
from schemas.events.attempt import (
    AttemptCrashed,
    AttemptFinished,
    AttemptHeld,
    AttemptQueued,
    AttemptRestarted,
    AttemptStarted,
)
from schemas.events.benchmark import (
    BenchmarkApproved,
    BenchmarkDeclined,
    BenchmarkDrafted,
    BenchmarkDraftFailed,
    BenchmarkDraftQueued,
    BenchmarkDraftRefused,
    BenchmarkRevisionRequested,
    Violation,
)
from schemas.events.birth import (
    BirthMutationDrafted,
    BirthMutationRejected,
    BirthRequested,
    BirthSettled,
)
from schemas.events.brief import (
    BriefDossierQueued,
    BriefDossierReviewed,
    BriefIssued,
    BriefRefused,
    BriefRequested,
)
from schemas.events.budget import BudgetExhausted, BudgetReserved, BudgetSettled
from schemas.events.chain import ChainHeaded
from schemas.events.egress import EgressAnswered, EgressRefused
from schemas.events.epoch import (
    EpochAbandoned,
    EpochClosed,
    EpochExecutionClosed,
    EpochOpened,
    EpochSelectionRequested,
    EpochStalled,
)
from schemas.events.evidence import EvidenceFrozen, EvidenceUnavailable
from schemas.events.export import ExportCompleted, ExportFailed, ExportRequested
from schemas.events.genesis import (
    GenesisBatchFailed,
    GenesisBatchQueued,
    GenesisCompleted,
    GenesisVariantsDrafted,
    Variant,
)
from schemas.events.genome import Change, GenomeCommitted, GenomeRejected, GenomeStaged
from schemas.events.grading import (
    GradingChunkQueued,
    GradingChunkReviewed,
    GradingFactsExtracted,
    GradingFactsRequested,
    GradingInterrupted,
    GradingOpened,
    GradingRefused,
)
from schemas.events.grant import GrantIssued
from schemas.events.leaderboard import LeaderboardPublished
from schemas.events.measurement import MeasurementFailed, MeasurementRecorded, MeasurementRequested
from schemas.events.memory import MemoryPublished, MemoryRated
from schemas.events.model_call import Caller, ModelCallFailed, ModelCallRecorded
from schemas.events.preflight import PreflightCheckFailed, PreflightCheckPassed
from schemas.events.reflection import ReflectionProposed, ReflectionRequested, ReflectionSettled
from schemas.events.run import (
    Champion,
    FailedCheck,
    RequiredCheck,
    RunCancelled,
    RunCancelRequested,
    RunCompleted,
    RunFailed,
    RunGenesisRequested,
    RunLocked,
    RunLockViolated,
    RunPaused,
    RunPauseRequested,
    RunPreflightRefused,
    RunPreflightRequested,
    RunRequested,
    RunResumed,
)
from schemas.events.score import CriterionScore, ScoreComputed
from schemas.events.selection import (
    SelectionAbandoned,
    SelectionClosed,
    SelectionCohortsAssigned,
)
from schemas.refs import SecretRef
from schemas.values.runtime import Budget, Limits, Models, Runtime, Usage
from tests.support.given import RUN, START, git, sha

EXAMPLES = Path(__file__).resolve().parents[2] / "schemas" / "examples"
AGENT, CHILD, ELITE = "a0012", "a0013", "a0003"
ATTEMPT, M = "e001x1-a0012", "e001x1-a0012-m-measure"
BROKEN = (Violation(path="criteria", message="weights must total 100, but 50 + 49.5 = 99.5"),)
MODELS = Models(specialist="openai/large", organism="openai/small", api_base="http://models/v1")
LATER = START + timedelta(minutes=30)


def blob(name: str, size: int = 1234) -> BlobRef:
    return BlobRef(sha256=sha(name), size=size)


def tree(name: str, size: int = 5678) -> TreeRef:
    return TreeRef(sha256=sha(name), size=size)


GENOME = GenomeRef(
    genome=sha("genome"),
    tree=git("tree"),
    commit=git("commit"),
    files=tree("files"),
    prompt_sha=sha("prompt"),
    runtime_sha=sha("runtime"),
)
RUNTIME = Runtime(
    executor="local",
    models=MODELS.model_copy(update={"api_base": None}),
    limits=Limits(),
    seed_sha=sha("seed"),
    layer_sha=sha("layer"),
    kernel_version="1",
)
REQUESTED = RunRequested(
    name="circles",
    goal="Pack 26 circles into the unit square; make the sum of their radii large.",
    criterion_hint="The sum of the radii, measured.",
    epochs=10,
    population=20,
    epoch_seconds=1800,
    env={"LANG": "C.UTF-8"},
    secrets=(SecretRef(name="MODEL_API_KEY"),),
    models=MODELS,
    budget=Budget(usd=Decimal("12.50"), tokens=5_000_000),
    starter=tree("starter"),
    approve="operator",
    seed=7,
)
CHANGED = (Change(path="solver.py", change="modified", size=2210),)

CASES: tuple[tuple[str, str, Event], ...] = (
    ("full", "main", REQUESTED),
    ("least", "main", RunRequested(name="least", goal="Sort faster.", epochs=1, population=4,
        epoch_seconds=60, models=Models(specialist="offline", organism="offline"))),
    ("requested", "main", RunPreflightRequested(benchmark=blob("benchmark"), required=(
        RequiredCheck(service="sandbox", check="isolation"),
        RequiredCheck(service="broker", check="models")))),
    ("refused", "main", RunPreflightRefused(failed=(
        FailedCheck(service="sandbox", check="isolation", reason="user namespaces are off"),))),
    ("locked", "main", RunLocked(objective_sha=sha("objective"), benchmark=blob("benchmark"),
        tool_manifest=blob("tools", 40), runtime=RUNTIME, runtime_sha=sha("runtime"),
        formula_version="1", locks_sha=sha("locks"))),
    ("requested", "main", RunGenesisRequested(slots=20, starter=tree("starter"),
        instructions="Vary how the search is organised.")),
    ("benchmark", "main", RunLockViolated(lock="benchmark", expected_sha=sha("benchmark"),
        actual_sha=sha("edited"), noticed_before="grading")),
    ("epoch", "main", RunPauseRequested(mode="epoch", reason="for the night")),
    ("operator", "main", RunPaused(cause="operator", phase="selecting", epoch=3, detail="night")),
    ("resumed", "main", RunResumed(reason="morning")),
    ("cancel", "main", RunCancelRequested(reason="wrong goal")),
    ("cancelled", "main", RunCancelled(epoch=3)),
    ("completed", "main", RunCompleted(epochs_run=10, champion=Champion(agent=AGENT,
        genome=sha("genome"), score=Decimal("98.123456")), leaderboard_sha=sha("board"))),
    ("no_success", "main", RunFailed(reason="no_success", epoch=2)),
    ("passed", "lineage", PreflightCheckPassed(check="seed", resolved={"seed_sha": sha("seed")})),
    ("failed", "broker", PreflightCheckFailed(check="models", reason="401 from the provider")),
    ("first", "main", BenchmarkDraftQueued(draft_no=1)),
    ("repair", "main", BenchmarkDraftQueued(draft_no=1, repair=1, previous=blob("answer"),
        violations=BROKEN)),
    ("refused", "main", BenchmarkDraftRefused(draft_no=1, repair=0, violations=BROKEN,
        answer=blob("answer"), call="c1")),
    ("drafted", "main", BenchmarkDrafted(draft_no=1, benchmark=blob("benchmark"),
        metric="Sum of the radii.", criteria=1, call="c1")),
    ("failed", "main", BenchmarkDraftFailed(tries=4, reason="the draft still breaks the contract",
        violations=BROKEN)),
    ("revision", "main", BenchmarkRevisionRequested(draft_no=1, notes="Count overlaps as 0.")),
    ("operator", "main", BenchmarkApproved(draft_no=1, benchmark_sha=sha("benchmark"),
        approved_by="operator")),
    ("policy", "main", BenchmarkApproved(draft_no=1, benchmark_sha=sha("benchmark"),
        approved_by="policy of the run", automatic=True)),
    ("declined", "main", BenchmarkDeclined(draft_no=1, declined_by="operator", reason="too easy")),
    ("first", "main", GenesisBatchQueued(batch=0, first=1, count=20)),
    ("two", "main", GenesisVariantsDrafted(batch=0, variants=(
        Variant(slot=1, proposal="g-a0001", prompt_sha=sha("p1")),
        Variant(slot=2, proposal="g-a0002", prompt_sha=sha("p2"))), prompts=blob("prompts"),
        call="c2")),
    ("contract", "main", GenesisBatchFailed(batch=0, tries=1,
        reason="20 variations were asked for, 19 came")),
    ("completed", "main", GenesisCompleted(population=blob("population"), count=20)),
    ("genesis", AGENT, AgentBorn(agent=AGENT, genome=sha("genome"), birth_epoch=1)),
    ("child", CHILD, AgentBorn(agent=CHILD, genome=sha("child"), parent=ELITE,
        parent_genome=sha("genome"), birth_epoch=2, state=sha("state"), memory_from=ELITE,
        memory_seq=912)),
    ("activated", AGENT, AgentGenomeActivated(agent=AGENT, previous=sha("genome"),
        genome=sha("mutant"), epoch=1)),
    ("rank", AGENT, AgentArchived(agent=AGENT, epoch=1, rank=19, because="rank")),
    ("first", "e001", EpochOpened(epoch=1, attempt_try=1, agents=blob("members"), count=20,
        attempt_seconds=1800, finalize_seconds=30, seed=ids.seed_of(7, "epoch", 1),
        locks_sha=sha("locks"))),
    ("stalled", "e001", EpochStalled(epoch=1, attempt_try=1, waiting=3)),
    ("closed", "e001", EpochExecutionClosed(epoch=1, attempt_try=1, attempts=blob("attempts"),
        count=20)),
    ("paused_now", "e001", EpochAbandoned(epoch=1, attempt_try=1, reason="paused now")),
    ("requested", "e001", EpochSelectionRequested(epoch=1, attempt_try=1)),
    ("next", "e001", EpochClosed(epoch=1, next="epoch")),
    ("epoch", ATTEMPT, AttemptQueued(attempt=ATTEMPT, purpose="epoch", agent=AGENT,
        genome=sha("genome"), state_in=sha("state"), limits=Limits(), wall_seconds=1800,
        finalize_seconds=30, seed=11)),
    ("measurement", M, AttemptQueued(attempt=M, purpose="measurement", agent=AGENT,
        program="measure", evidence=sha("manifest"), limits=Limits(restarts=0), wall_seconds=60,
        finalize_seconds=0, seed=3)),
    ("started", ATTEMPT, AttemptStarted(restart=0, node="node-1", started_at=START,
        finalize_at=LATER - timedelta(seconds=30), deadline_at=LATER)),
    ("oom", ATTEMPT, AttemptCrashed(restart=0, reason="oom", exit_code=-9, log_tail=blob("log"),
        detail="memory limit of 2048 MiB")),
    ("again", ATTEMPT, AttemptRestarted(restart=1, seconds_left=1204.5)),
    ("completed", ATTEMPT, AttemptFinished(outcome="completed", restarts=1, exit_code=0,
        state_out=tree("state"), result=blob("result"), evidence=blob("evidence"),
        log=blob("log"), wall_seconds=1771.3, cpu_seconds=1400.1, memory_mb=812.5)),
    ("frozen", ATTEMPT, EvidenceFrozen(attempt=ATTEMPT, agent=AGENT, genome=sha("genome"),
        manifest=tree("manifest"), files=14, bytes=20_100, new=9, activity=4,
        candidate=blob("candidate", 512), rejected=blob("rejected", 90), rejected_count=1)),
    ("unavailable", ATTEMPT, EvidenceUnavailable(attempt=ATTEMPT, agent=AGENT,
        reason="start_failed")),
    ("measured", ATTEMPT, GradingOpened(attempt=ATTEMPT, agent=AGENT, genome=sha("genome"),
        evidence=sha("manifest"), programs=("measure",))),
    ("forced", ATTEMPT, GradingOpened(attempt=ATTEMPT, agent=AGENT, genome=sha("genome"),
        evidence=sha("manifest"), missing=("candidate",), forced_failure="missing: candidate")),
    ("queued", ATTEMPT, GradingChunkQueued(chunk=0, of=2, fragments=blob("fragments"), count=2,
        coverage=sha("coverage"))),
    ("reviewed", ATTEMPT, GradingChunkReviewed(chunk=0, review=blob("review"),
        coverage=sha("coverage"), call="c3")),
    ("requested", ATTEMPT, GradingFactsRequested(reviews=(blob("review"),))),
    ("extracted", ATTEMPT, GradingFactsExtracted(facts=blob("facts"), call="c4")),
    ("facts", ATTEMPT, GradingRefused(stage="facts", tries=1, violations=(
        Violation(path="criteria", message="quality is missing"),), call="c4")),
    ("provider", ATTEMPT, GradingInterrupted(stage="facts", reason="no answer in 180 s")),
    ("requested", M, MeasurementRequested(attempt=ATTEMPT, agent=AGENT, program="measure",
        evidence=sha("manifest"), seed=3)),
    ("recorded", M, MeasurementRecorded(attempt=ATTEMPT, agent=AGENT, program="measure",
        response=blob("response", 64))),
    ("no_json", M, MeasurementFailed(attempt=ATTEMPT, agent=AGENT, program="measure",
        reason="the output is not JSON", retryable=False)),
    ("success", ATTEMPT, ScoreComputed(attempt=ATTEMPT, agent=AGENT, genome=sha("genome"),
        outcome="success", score=Decimal("98.123456"), tie_break=Decimal("0.750000"),
        criteria=(CriterionScore(id="sum", fraction=Decimal("0.981235"),
        points=Decimal("98.123456"), refs=("external:measure",)),), formula_version="1")),
    ("failed", ATTEMPT, ScoreComputed(attempt=ATTEMPT, agent=AGENT, genome=sha("genome"),
        outcome="failed", score=Decimal(0), tie_break=Decimal(-1), criteria=(),
        failures=("overlap",), formula_version="1")),
    ("published", "e001", LeaderboardPublished(epoch=1, attempt_try=1, rows=blob("board"),
        count=20, successes=18, failures=2)),
    ("assigned", "e001", SelectionCohortsAssigned(epoch=1, cohorts=blob("cohorts"), count=20,
        elite=6, middle=8, culled=6, births=6, rule="elite 3/10, cull 3/10, half up")),
    ("briefs", "e001", SelectionAbandoned(epoch=1, stage="briefs",
        reason="the Tweaker broke the briefs contract 3 times")),
    ("closed", "e001", SelectionClosed(epoch=1, changes=blob("changes"), count=15)),
    ("queued", "e001", BriefDossierQueued(part=0, of=2, fragments=blob("dossiers"), count=16,
        coverage=sha("coverage"))),
    ("reviewed", "e001", BriefDossierReviewed(part=0, notes=blob("notes"),
        coverage=sha("coverage"), call="c5")),
    ("requested", "e001", BriefRequested(births=6)),
    ("briefs", "e001", BriefRefused(stage="briefs", tries=1, violations=(
        Violation(path="parents", message="children must total 6, but they total 5"),))),
    ("issued", "e001", BriefIssued(analysis=blob("analysis"), parents=3, call="c6")),
    ("requested", "e001-a0012", ReflectionRequested(agent=AGENT, genome=sha("genome"),
        state=sha("state"), context=blob("context"), wall_seconds=300)),
    ("proposed", "e001-a0012", ReflectionProposed(agent=AGENT, proposal="r-e001-a0012",
        parent=sha("genome"), mutation=blob("mutation"), reason="more restarts")),
    ("mutated", "e001-a0012", ReflectionSettled(agent=AGENT, genome=sha("mutant"), changed=True,
        because="mutated")),
    ("first", "e001-a0013", BirthRequested(agent=CHILD, parent=ELITE, parent_genome=sha("genome"),
        brief="Keep the grid start, anneal longer.")),
    ("drafted", "e001-a0013", BirthMutationDrafted(agent=CHILD, tries=0,
        proposal="b-e001-a0013-0", parent_genome=sha("genome"), mutation=blob("mutation"),
        reason="anneal longer", call="c7")),
    ("duplicate", "e001-a0013", BirthMutationRejected(agent=CHILD, tries=0, reason="duplicate")),
    ("settled", "e001-a0013", BirthSettled(agent=CHILD, parent=ELITE, genome=sha("child"))),
    ("code", "b-e001-a0013-0", GenomeStaged(proposal="b-e001-a0013-0", origin="birth",
        tree=tree("files"), prompt=blob("prompt"), parent=sha("genome"), touches_code=True,
        changed=CHANGED)),
    ("birth", "b-e001-a0013-0", GenomeCommitted(proposal="b-e001-a0013-0", genome=GENOME,
        parent=sha("parent"), branch="agents/a0013", prompt=blob("prompt"), changed=CHANGED,
        origin="birth")),
    ("duplicate", "b-e001-a0013-1", GenomeRejected(proposal="b-e001-a0013-1", origin="birth",
        reason="duplicate", duplicate_of=sha("genome"))),
    ("issued", "g1", GrantIssued(grant="g1", attempt=ATTEMPT, agent=AGENT, genome=sha("genome"),
        scopes=("chat", "memory"), expires_at=LATER)),
    ("reserved", "g1", BudgetReserved(grant="g1", tokens=40_000, calls=20, usd=Decimal("0.5"))),
    ("settled", "g1", BudgetSettled(grant="g1", tokens=31_250, calls=12, usd=Decimal("0.31"))),
    ("tokens", "main", BudgetExhausted(scope="run", limit="tokens", used=5_000_210,
        cap=5_000_000)),
    ("recorded", "c3", ModelCallRecorded(call="c3", key=sha("key"), tape_key=sha("tape"),
        caller=Caller(kind="organism", name=AGENT, attempt=ATTEMPT, genome=sha("genome")),
        purpose="epoch", model="openai/small", request=blob("request"), response=blob("answer"),
        finish="stop", usage=Usage(prompt=900, completion=210, cached=600,
        cost=Decimal("0.00042")), latency_ms=1830, tries=1)),
    ("rate", "c3", ModelCallFailed(call="c3", key=sha("key"),
        caller=Caller(kind="specialist", name="grader"), purpose="grader_chunk",
        model="openai/large", request=blob("request"), attempt_no=1, http_status=429, kind="rate",
        retryable=True, detail="retry after 2 s")),
    ("finding", "m1", MemoryPublished(record="m1", agent=AGENT, kind="finding",
        summary="A hexagonal start beats a square one.", evidence_refs=("file:notes.md",),
        visibility="population", genome=sha("genome"), attempt=ATTEMPT,
        content_sha=sha("content"))),
    ("up", "m1", MemoryRated(record="m1", rater=ELITE, value=1)),
    ("requested", "x1", ExportRequested(path="/exports/run", requested_by="operator")),
    ("completed", "x1", ExportCompleted(manifest=blob("manifest"), files=2100, bytes=9_100_000)),
    ("failed", "x1", ExportFailed(reason="the folder exists already")),
    ("headed", "main", ChainHeaded(head=sha("head"), up_to_seq=912, events=640)),
    ("provider", ATTEMPT, AttemptHeld(reason="provider", detail="no answer after 4 starts")),
    ("answered", ATTEMPT, EgressAnswered(attempt=ATTEMPT, capability="web_search",
        asked="5 hexagonal packing", answer=blob("results"), tape_key=sha("egress"))),
    ("refused", ATTEMPT, EgressRefused(attempt=ATTEMPT, capability="web_fetch",
        host="169.254.169.254", port=80, reason="this address is not public")),
)  # fmt: skip


def envelope(seq: int, entity_id: str, event: Event) -> Envelope:
    """As its owner would write it."""
    owner = OWNER.get(event.entity(), entity_id)
    in_epoch = event.entity() in ("attempt", "evidence", "grading", "measurement", "score")
    return Envelope(
        id=ids.event_id(RUN, event.entity(), entity_id, seq),
        type=event.type,
        v=event.v,
        run=RUN,
        epoch=1 if in_epoch or entity_id.startswith("e0") else None,
        entity=event.entity(),
        entity_id=entity_id,
        occurred_at=START + timedelta(seconds=seq),
        seen=seq,
        actor=Actor(kind="service", name=owner, instance="kernel"),
        by=f"{owner}/example@1",
        about=entity_id,
        data=event,
    )


def main() -> None:
    for seq, (case, entity_id, event) in enumerate(CASES):
        body = json.loads(encode(envelope(seq, entity_id, event)))
        folder = EXAMPLES / event.type / str(event.v)
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(body, indent=1, ensure_ascii=False) + "\n"
        (folder / f"{case}.json").write_text(text)


if __name__ == "__main__":
    main()
