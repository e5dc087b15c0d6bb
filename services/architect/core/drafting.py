"""From a goal to an approved benchmark: draft, repair, revise, approve, decline."""

import json
from collections.abc import Sequence
from datetime import datetime

from pydantic import ValidationError

from schemas import BlobRef, Draft, Event, canonical, ids, ref_of
from schemas.commands import Refused
from schemas.commands.benchmark import ApproveBenchmark, DeclineBenchmark, RequestRevision
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
from schemas.values.benchmark import Benchmark
from services.architect.core.contract import Inventory, violations
from services.architect.core.view import View

REPAIRS = 3
VIOLATION_BYTES = 32 * 1024


def inventory(view: View) -> Inventory:
    """What this run may use at most: the user said so in the request."""
    return Inventory(tools=frozenset(view.request.capabilities if view.request else ()))


Answer = list[Draft] | Refused


def advance(view: View, about: str, now: datetime) -> list[Draft]:
    """Queue the next draft, repair or revision, or approve by the run's own policy."""
    if view.request is None or view.terminal or view.locked or view.open_draft is not None:
        return []
    if view.refused is not None:
        return _repair(view.refused)
    if view.revision is not None and view.drafted is not None:
        return [_queue(view.drafted.draft_no + 1, notes=view.revision.notes)]
    if view.drafted is None:
        return _first(view)
    if view.request.approve == "automatic" and not view.approved and not view.declined:
        return _approve_by_policy(view, view.drafted)
    return []


def _approve_by_policy(view: View, drafted: BenchmarkDrafted) -> list[Draft]:
    approved = BenchmarkApproved(
        draft_no=drafted.draft_no,
        benchmark_sha=drafted.benchmark.sha256,
        approved_by="policy of the run",
        automatic=True,
    )
    return [_main(approved)]


def _first(view: View) -> list[Draft]:
    assert view.request is not None
    if view.failed is not None:
        return []
    if view.request.benchmark is None:
        return [_queue(1)]
    answer = view.read(view.request.benchmark)
    return judge(inventory(view), 1, REPAIRS, answer, None)


def _repair(refused: BenchmarkDraftRefused) -> list[Draft]:
    if refused.repair >= REPAIRS:
        failed = BenchmarkDraftFailed(
            tries=refused.repair + 1,
            reason="the draft still breaks the contract",
            violations=refused.violations[:50],
        )
        return [_main(failed)]
    queued = BenchmarkDraftQueued(
        draft_no=refused.draft_no,
        repair=refused.repair + 1,
        previous=refused.answer,
        violations=refused.violations,
    )
    return [_main(queued)]


def judge(
    offered: Inventory, draft_no: int, repair: int, answer: bytes, call: str | None
) -> list[Draft]:
    """The verdict on one answer: drafted, or refused with every violation at once."""
    benchmark, broken = parse(answer)
    if benchmark is not None:
        broken = violations(benchmark, offered)
    if benchmark is None or broken:
        kept = ref_of(answer)
        refused = BenchmarkDraftRefused(
            draft_no=draft_no, repair=repair, violations=_bounded(broken), answer=kept, call=call
        )
        return [Draft(ids.MAIN, refused, None, (answer,))]
    content = canonical(benchmark)
    drafted = BenchmarkDrafted(
        draft_no=draft_no,
        benchmark=ref_of(content),
        metric=benchmark.metric[:2000],
        criteria=len(benchmark.criteria),
        call=call,
    )
    return [Draft(ids.MAIN, drafted, None, (content,))]


def parse(answer: bytes) -> tuple[Benchmark | None, list[Violation]]:
    """The benchmark in `answer`, or why its shape is wrong."""
    try:
        return Benchmark.model_validate_json(answer), []
    except ValidationError as error:
        return None, [
            Violation(path=".".join(map(str, e["loc"]))[:200], message=e["msg"][:500])
            for e in error.errors()
        ]


def _bounded(found: Sequence[Violation]) -> tuple[Violation, ...]:
    """An event has a size limit; the first violations are enough to repair by."""
    kept: list[Violation] = []
    size = 0
    for broken in found[:100]:
        short = Violation(path=broken.path[:200], message=broken.message[:500])
        size += len(canonical(short))
        if size > VIOLATION_BYTES:
            break
        kept.append(short)
    return tuple(kept)


def failed(reason: str, tries: int) -> list[Draft]:
    """No answer could be had at all."""
    return [_main(BenchmarkDraftFailed(tries=tries, reason=reason[:2000]))]


def payload(view: View, queued: BenchmarkDraftQueued) -> bytes:
    """What the Architect model is given: names of secrets never, values never."""
    request = view.request
    assert request is not None
    offered = inventory(view)
    fields: dict[str, object] = {
        "goal": request.goal,
        "criterion_hint": request.criterion_hint,
        "epochs": request.epochs,
        "population": request.population,
        "epoch_seconds": request.epoch_seconds,
        "inventory": {"tools": sorted(offered.tools), "connectors": sorted(offered.connectors)},
    }
    if queued.violations:
        fields["repair"] = {
            "previous": _previous(view, queued.previous),
            "violations": [v.model_dump() for v in queued.violations],
        }
    if queued.notes:
        fields["notes"] = queued.notes
    return canonical(fields)


def _previous(view: View, ref: BlobRef | None) -> object:
    if ref is None:
        return None
    try:
        return json.loads(view.read(ref))
    except (ValueError, RecursionError):
        return None


def approve(view: View, command: ApproveBenchmark, now: datetime) -> Answer:
    """Approve the latest draft, by its number and its hash."""
    if refused := _not_latest(view, command.run, command.draft_no):
        return refused
    assert view.drafted is not None
    if view.drafted.benchmark.sha256 != command.benchmark_sha:
        return Refused(reason="the hash is not that of the draft", hint="kadath show RUN")
    if view.approved:
        return []
    approved = BenchmarkApproved(
        draft_no=command.draft_no,
        benchmark_sha=command.benchmark_sha,
        approved_by=command.operator,
    )
    return [_main(approved)]


def decline(view: View, command: DeclineBenchmark, now: datetime) -> Answer:
    """The run stays inactive, visible and revisable."""
    if refused := _not_latest(view, command.run, command.draft_no):
        return refused
    if view.declined:
        return []
    declined = BenchmarkDeclined(
        draft_no=command.draft_no, declined_by=command.operator, reason=command.reason
    )
    return [_main(declined)]


def revise(view: View, command: RequestRevision, now: datetime) -> Answer:
    if refused := _not_latest(view, command.run, command.draft_no):
        return refused
    revision = BenchmarkRevisionRequested(draft_no=command.draft_no, notes=command.notes)
    return [_main(revision)]


def _not_latest(view: View, run: str, draft_no: int) -> Refused | None:
    if view.request is None:
        return Refused(reason=f"there is no run {run}", hint="kadath runs")
    if view.locked or view.terminal:
        return Refused(reason=f"the benchmark of {run} cannot change any more")
    if view.drafted is None:
        return Refused(reason="there is no draft yet", hint="kadath status RUN")
    if view.drafted.draft_no != draft_no:
        latest = view.drafted.draft_no
        return Refused(reason=f"the latest draft is {latest}", hint="kadath show RUN")
    return None


def _queue(draft_no: int, notes: str = "") -> Draft:
    return _main(BenchmarkDraftQueued(draft_no=draft_no, notes=notes))


def _main(event: Event) -> Draft:
    return Draft(ids.MAIN, event)
