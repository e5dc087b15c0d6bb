"""A model call from question to record: journal, tape, budget, tries, then the answer."""

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from schemas import BlobRef, Draft, canonical, ref_of
from schemas.events.model_call import Caller, FailureKind, ModelCallFailed, ModelCallRecorded
from services.broker.core import budget, retry
from services.broker.core.answer import Bad, Contract, Good, Tried, judge
from services.broker.core.budget import Pending
from services.broker.core.journal import Answered, Keys, call_id, keys
from services.broker.core.view import View
from services.broker.effects.fairness import Gate
from services.broker.effects.route import Route
from services.broker.effects.secrets import RunSecrets
from services.kit import edges
from services.kit.engine import Context

logger = logging.getLogger(__name__)

CALL_SECONDS = 120.0
GLOBAL_LIMIT = 16
AGENT_LIMIT = 2
SHORTEST_TRY_SECONDS = 0.05


@dataclass(frozen=True)
class Call:
    """One question. `identity` and `occurrence` tell equal questions apart."""

    run: str
    caller: Caller
    identity: str
    occurrence: int
    purpose: str
    request: dict[str, object]
    contract: Contract
    seconds: float
    epoch: int | None = None
    grant: str | None = None


@dataclass(frozen=True)
class Answer:
    """A recorded answer. `body`, and its bytes, are what was recorded: redacted."""

    call: str
    body: dict[str, object]
    content: bytes


@dataclass(frozen=True)
class Failure:
    kind: FailureKind
    detail: str
    retryable: bool
    call: str | None = None
    status: int | None = None
    retry_after: float | None = None


@dataclass
class _Work:
    """What the tries of one call share."""

    call: Call
    keys: Keys
    id: str
    body: bytes
    request: BlobRef
    deadline: float
    failures: int = 0
    last: Failure = field(default=Failure("timeout", "no time for a try", True))


class Calls:
    """All model calls of this process."""

    def __init__(self, context: Context, route: Route, secrets: RunSecrets) -> None:
        self._context = context
        self._route = route
        self._secrets = secrets
        limit = int(edges.environment("KADATH_MODEL_CONCURRENCY", str(GLOBAL_LIMIT)))
        self._gate = Gate(limit, AGENT_LIMIT)
        self._try_seconds = float(edges.environment("KADATH_CALL_TIMEOUT", str(CALL_SECONDS)))
        self._working: dict[str, asyncio.Task[Answer | Failure]] = {}
        self._pending: dict[str, Pending] = defaultdict(Pending)

    async def ask(self, call: Call) -> Answer | Failure:
        """The recorded answer. Asked again while it is under way, both wait for the same."""
        body = canonical(call.request)
        found = keys(call.run, call.identity, call.occurrence, body)
        task = self._working.get(found.call)
        if task is None:
            task = asyncio.create_task(self._ask(call, found, body))
            self._working[found.call] = task
            task.add_done_callback(lambda done: self._finished(found.call, done))
        # A caller that goes away or runs out of time must not stop a call that is paid for.
        done, _ = await asyncio.wait([task], timeout=max(call.seconds, 0.0))
        return task.result() if done else Failure("timeout", "no answer in time", True)

    def _finished(self, key: str, task: asyncio.Task[Answer | Failure]) -> None:
        self._working.pop(key, None)
        if not task.cancelled() and task.exception() is not None:
            logger.warning("call %s: %s", key[:16], task.exception())

    async def close(self) -> None:
        tasks = list(self._working.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask(self, call: Call, found: Keys, body: bytes) -> Answer | Failure:
        view: View = self._context.view(call.run)
        recorded = view.journal.get(found.call)
        if recorded is not None:
            return self._kept(recorded)
        work = await self._work(call, found, body, view)
        if self._context.platform.tape is not None:
            return await self._from_tape(work)
        refused = await self._afford(work)
        return refused or await self._try_until_done(work)

    async def _work(self, call: Call, found: Keys, body: bytes, view: View) -> _Work:
        redacted = self._secrets.redactor(view).value(call.request)
        kept = body if redacted == call.request else canonical(redacted)
        return _Work(
            call=call,
            keys=found,
            id=call_id(found.call),
            body=body,
            request=await self._context.blobs.put(kept),
            deadline=asyncio.get_running_loop().time() + call.seconds,
        )

    def _kept(self, recorded: Answered) -> Answer:
        content = self._context.blobs.get(recorded.response)
        return Answer(recorded.call, json.loads(content), content)

    async def _from_tape(self, work: _Work) -> Answer | Failure:
        """The tape's answer becomes this run's own record; a miss is an error, never a call."""
        tape = self._context.platform.tape
        assert tape is not None
        found = self._context.view(tape).tape.get(work.keys.tape)
        if found is None:
            detail = f"the tape {tape} holds no call {work.keys.tape[:16]} ({work.call.purpose})"
            bad = Bad("refused", detail, retryable=False)
            await self._failed(work, Tried(status=409), bad)
            return work.last
        kept = Tried(status=200, body=self._kept(found).content)
        good = judge(kept, work.call.contract, len(work.body))
        if isinstance(good, Bad):
            await self._failed(work, Tried(status=409), Bad("refused", good.detail, False))
            return work.last
        return await self._recorded(work, Tried(), good, 0)

    async def _afford(self, work: _Work) -> Failure | None:
        run, grant = work.call.run, work.call.grant
        refused: list[budget.Exhausted] = []

        def decide(view: View, now: datetime) -> list[Draft]:
            found = budget.exhausted(view, grant, self._pending[run], len(work.body) // 4, now)
            refused[:] = [found] if found else []
            return budget.announce(view, found) if found else []

        await self._context.transact(run, "broker/budget", decide, about=grant)
        if not refused:
            return None
        detail = f"{refused[0].limit} of the run used up: {refused[0].used} of {refused[0].cap}"
        return Failure("budget", detail, False, status=429)

    async def _try_until_done(self, work: _Work) -> Answer | Failure:
        estimate = Pending(len(work.body) // 4, 1)
        self._add_pending(work.call.run, estimate, 1)
        try:
            while work.failures < retry.TRIES:
                answer = await self._try(work)
                if answer is not None:
                    return answer
                if not work.last.retryable or not await self._rest(work):
                    break
        finally:
            self._add_pending(work.call.run, estimate, -1)
        return work.last

    def _add_pending(self, run: str, estimate: Pending, sign: int) -> None:
        old = self._pending[run]
        new = Pending(old.tokens + sign * estimate.tokens, old.calls + sign * estimate.calls)
        self._pending[run] = new
        if not new.calls:
            del self._pending[run]

    async def _try(self, work: _Work) -> Answer | None:
        loop = asyncio.get_running_loop()
        lane = f"{work.call.run}/{work.call.caller.name}"
        if work.call.caller.kind == "specialist":
            self._gate.widen(lane)
        async with self._gate.place(lane):
            if work.deadline - loop.time() < SHORTEST_TRY_SECONDS:
                work.last = work.last if work.failures else Failure("timeout", "queued", True)
                work.failures = retry.TRIES
                return None
            began = loop.time()
            tried = await self._route.send(
                self._context.view(work.call.run), work.body, self._try_seconds
            )
        judged = judge(tried, work.call.contract, len(work.body))
        if isinstance(judged, Bad):
            await self._failed(work, tried, judged)
            return None
        return await self._recorded(work, tried, judged, int((loop.time() - began) * 1000))

    async def _rest(self, work: _Work) -> bool:
        """Wait before the next try; False when there is no next try in time."""
        if work.failures >= retry.TRIES:
            return False
        jitter = edges.random_bytes(1)[0] / 256
        pause = retry.pause(work.failures, work.last.retry_after, jitter)
        if asyncio.get_running_loop().time() + pause + SHORTEST_TRY_SECONDS > work.deadline:
            return False
        await asyncio.sleep(pause)
        return True

    async def _recorded(self, work: _Work, tried: Tried, good: Good, latency: int) -> Answer:
        """Bytes, then the fact, then the answer; whoever was faster is the one that counts."""
        call = work.call
        view: View = self._context.view(call.run)
        body = self._secrets.redactor(view).value(good.body)
        assert isinstance(body, dict)
        content = canonical(body)
        event = ModelCallRecorded(
            call=work.id,
            key=work.keys.call,
            tape_key=work.keys.tape,
            caller=call.caller,
            purpose=call.purpose,
            model=str(call.request["model"]),
            request=work.request,
            response=ref_of(content),
            finish=good.finish,
            usage=good.usage,
            latency_ms=latency,
            tries=work.failures + 1,
            fault=tried.fault,
        )
        draft = Draft(work.id, event, call.epoch, (content,))
        await self._append(work, lambda view: [] if work.keys.call in view.journal else [draft])
        found = view.journal[work.keys.call]
        if found.response == event.response:
            return Answer(work.id, body, content)
        return self._kept(found)

    async def _failed(self, work: _Work, tried: Tried, bad: Bad) -> None:
        """One event a try, before anything else happens."""
        call = work.call
        work.failures += 1
        status, detail = (
            tried.status,
            self._secrets.redactor(self._context.view(call.run)).text(bad.detail),
        )
        work.last = Failure(bad.kind, detail, bad.retryable, work.id, status, tried.retry_after)

        def event(view: View) -> ModelCallFailed:
            return ModelCallFailed(
                call=work.id,
                key=work.keys.call,
                caller=call.caller,
                purpose=call.purpose,
                model=str(call.request["model"]),
                request=work.request,
                attempt_no=view.failures.get(work.id, 0) + 1,
                http_status=status,
                kind=bad.kind,
                retryable=bad.retryable,
                detail=detail,
                fault=tried.fault,
                cost=tried.cost,
            )

        await self._append(work, lambda view: [Draft(work.id, event(view), call.epoch)])

    async def _append(self, work: _Work, decide: Callable[[View], list[Draft]]) -> None:
        by = "broker/call"
        await self._context.transact(
            work.call.run, by, lambda view, now: decide(view), about=work.id
        )
