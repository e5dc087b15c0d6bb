"""Folds and doorbells of a process: one follower feeds every service's views and reactions."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from nats.aio.client import Client
from nats.errors import NoRespondersError

from schemas import Actor, Draft, Envelope, Event, Recorded, Value, subjects
from schemas.deciding import place
from schemas.subjects import EntityKey
from services.kit import edges
from services.kit.blobs import Blobs
from services.kit.errors import Conflict, KitError, Unavailable
from services.kit.follower import Follower
from services.kit.log import Log
from services.kit.parking import Parking
from services.kit.platform import Platform
from services.kit.service import Reaction, Service, View
from services.kit.telemetry import span, traceparent

logger = logging.getLogger(__name__)

CONFLICT_TRIES = 8
RPC_TRIES = 50
PARK_AFTER = 5


@dataclass(slots=True)
class Head:
    """How many events an entity has and the stream sequence of its last one."""

    count: int = 0
    seq: int = 0


class Key(NamedTuple):
    """What a doorbell rings for."""

    service: str
    reaction: str
    run: str
    about: str


@dataclass
class RunState:
    """What a process keeps in memory of one run."""

    seq: int = 0
    last_event: str | None = None
    heads: dict[tuple[str, str], Head] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)


@dataclass
class Context:
    """What an effect, a command or an RPC of a service may use."""

    service: Service
    engine: "Engine"
    log: Log
    blobs: Blobs
    parking: Parking
    platform: Platform
    client: Client
    secrets: edges.Secrets
    resources: dict[str, Any] = field(default_factory=dict)

    def view(self, run: str) -> Any:
        return self.engine.view(self.service.name, run)

    async def call(self, service: str, name: str, request: Value, timeout: float) -> bytes:
        """Ask another service's RPC; the reply is one JSON object. Raises `Unavailable`."""
        subject, body = subjects.rpc(service, name), request.model_dump_json().encode()
        for _ in range(RPC_TRIES):
            try:
                return bytes((await self.client.request(subject, body, timeout=timeout)).data)
            except NoRespondersError:  # the other service is just starting
                await asyncio.sleep(0.1)
            except TimeoutError:
                break
        raise Unavailable(subject)

    async def transact(
        self,
        run: str,
        by: str,
        decide: Callable[[Any, datetime], list[Draft]],
        about: str | None = None,
        actor: Actor | None = None,
        correlation: str | None = None,
    ) -> list[Envelope]:
        """Decide on what is true now and append it; decide again when somebody was faster."""
        author = Author(self.service.name, by, about, actor, correlation)
        return await self.engine.transact(self, run, author, decide)


class Author(NamedTuple):
    """Who decides, and about what: becomes `actor`, `by` and `about` of the envelope."""

    service: str
    by: str
    about: str | None
    actor: Actor | None = None
    correlation: str | None = None


class Engine:
    """Applies events to folds, rings reactions, appends what they decide."""

    def __init__(self, services: tuple[Service, ...], blobs: Blobs, instance: str) -> None:
        self.services = {service.name: service for service in services}
        self.blobs = blobs
        self.instance = instance
        self.runs: dict[str, RunState] = {}
        self.contexts: dict[str, Context] = {}
        self.follower: Follower | None = None
        self.listeners: list[Callable[[Recorded], None]] = []
        self._folds = _by_event(services)
        self._reactions = {
            event: [(s, r) for s in services for r in s.reactions if event in r.on]
            for event in {e for s in services for r in s.reactions for e in r.on}
        }
        self._handlers = {(s.name, r.name): r for s in services for r in s.reactions}
        self._rung: dict[Key, None] = {}
        self._busy: set[Key] = set()
        self._failures: dict[Key, int] = defaultdict(int)
        self._alarms: dict[Key, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._live = False

    def view(self, service: str, run: str) -> Any:
        """The service's fold of a run; an unknown run has the empty fold."""
        state = self.runs.setdefault(run, RunState())
        if service not in state.views:
            state.views[service] = self.services[service].view(run, self.blobs.get)
        return state.views[service]

    def apply(self, recorded: Recorded) -> None:
        """Fold one event and ring everything it may concern."""
        envelope = recorded.envelope
        run, kind = envelope.run, type(envelope.data)
        state = self.runs.get(run)
        if state is None:
            state = self.runs[run] = RunState()
        place = (envelope.entity, envelope.entity_id)
        head = state.heads.get(place)
        if head is None:
            head = state.heads[place] = Head()
        head.count, head.seq = head.count + 1, recorded.seq
        state.seq, state.last_event = recorded.seq, envelope.id
        for service in self._folds.get(kind, ()):
            (state.views.get(service.name) or self.view(service.name, run)).apply(recorded)
        for service, reaction in self._reactions.get(kind, ()):
            view = state.views.get(service.name) or self.view(service.name, run)
            for about in reaction.rings(recorded, view):
                self.ring(Key(service.name, reaction.name, run, about))
        for listener in self.listeners:
            listener(recorded)

    def go_live(self) -> None:
        """The follower has caught up: answer everything that was rung while it had not."""
        self._live = True
        rung, self._rung = self._rung, {}
        for key in rung:
            self.ring(key)

    async def close(self) -> None:
        self._live = False
        for handle in self._alarms.values():
            handle.cancel()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def ring(self, key: Key) -> None:
        """Ask the reaction what is due; a second ring while it works asks once more."""
        self._rung[key] = None
        if not self._live or key in self._busy:
            return
        self._busy.add(key)
        task = asyncio.create_task(self._answer(key))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, key: Key) -> None:
        try:
            while self._live and key in self._rung:
                del self._rung[key]
                await self._react(key)
        finally:
            self._busy.discard(key)

    async def _react(self, key: Key) -> None:
        reaction = self._handlers[key.service, key.reaction]
        context = self.contexts[key.service]
        author = Author(key.service, f"{key.service}/{reaction.name}", key.about)
        try:
            await self.transact(
                context, key.run, author, lambda view, at: reaction.decide(view, key.about, at)
            )
            self._failures.pop(key, None)
            self._set_alarm(key, reaction)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # the one place that keeps a broken rule from stopping others
            await self._failed(key, context, error)

    async def _failed(self, key: Key, context: Context, error: Exception) -> None:
        self._failures[key] += 1
        count = self._failures[key]
        logger.warning("%s failed (%d): %s", key, count, error, exc_info=count == PARK_AFTER)
        if count >= PARK_AFTER and not (isinstance(error, KitError) and error.retryable):
            await context.parking.park(key.reaction, key.run, key.about, error)
            return
        loop = asyncio.get_running_loop()
        delay = min(0.05 * 2**count, 5.0)
        self._alarms[key] = loop.call_later(delay, self.ring, key)

    def _set_alarm(self, key: Key, reaction: Reaction) -> None:
        """A timer is never trusted: when it rings, the state decides."""
        if reaction.due is None:
            return
        old = self._alarms.pop(key, None)
        if old is not None:
            old.cancel()
        due = reaction.due(self.view(key.service, key.run), key.about)
        if due is not None:
            delay = max((due - edges.now()).total_seconds(), 0.01)
            self._alarms[key] = asyncio.get_running_loop().call_later(delay, self.ring, key)

    async def transact(
        self,
        context: Context,
        run: str,
        author: Author,
        decide: Callable[[Any, datetime], list[Draft]],
    ) -> list[Envelope]:
        """Fold, decide, append; on a lost race wait for the winner's event and decide again."""
        assert self.follower is not None
        for _ in range(CONFLICT_TRIES):
            view, now = self.view(author.service, run), edges.now()
            seen = self.follower.seq
            drafts = decide(view, now)
            if not drafts:
                return []
            with span(author.by, run, author.about):
                envelopes = self._envelopes(run, author, drafts, now)
                fences = self._fences(run, envelopes)
                for content in (blob for draft in drafts for blob in draft.blobs):
                    await context.blobs.put(content)
                try:
                    last = await context.log.append(envelopes, fences)
                except Conflict:
                    await self._wait_past(seen)
                    continue
            await self.follower.wait_for(last)
            return envelopes
        raise Conflict(f"{author.by} lost {CONFLICT_TRIES} races on {author.about}")

    async def _wait_past(self, seen: int) -> None:
        assert self.follower is not None
        try:
            await asyncio.wait_for(self.follower.wait_for(seen + 1), timeout=1.0)
        except TimeoutError:
            return

    def _fences(self, run: str, envelopes: list[Envelope]) -> Mapping[EntityKey, int]:
        heads = self.runs[run].heads
        keys = {EntityKey(run, e.entity, e.entity_id) for e in envelopes}
        return {k: heads.get((k.entity, k.entity_id), Head(0, 0)).seq for k in keys}

    def _envelopes(
        self, run: str, author: Author, drafts: list[Draft], now: datetime
    ) -> list[Envelope]:
        state = self.runs.setdefault(run, RunState())
        return envelopes_of(run, state, author, drafts, now, self.instance)


def envelopes_of(
    run: str,
    state: RunState,
    author: Author,
    drafts: list[Draft],
    now: datetime,
    instance: str,
) -> list[Envelope]:
    """Give drafts identity and position: a function of the fold, the drafts and `now`."""
    envelopes = []
    for placed in place(run, lambda *key: state.heads.get(key, Head(0, 0)).count, drafts):
        draft = placed.draft
        envelopes.append(
            Envelope(
                id=placed.id,
                type=draft.data.type,
                v=draft.data.v,
                run=run,
                epoch=draft.epoch,
                entity=placed.entity,
                entity_id=draft.entity_id,
                occurred_at=now,
                cause=state.last_event,
                correlation=author.correlation,
                seen=state.seq,
                actor=author.actor or Actor(kind="service", name=author.service, instance=instance),
                by=author.by,
                about=author.about,
                traceparent=traceparent(),
                data=draft.data,
            )
        )
    return envelopes


def _by_event(services: tuple[Service, ...]) -> dict[type[Event], list[Service]]:
    table: dict[type[Event], list[Service]] = defaultdict(list)
    for service in services:
        for event in service.handles:
            table[event].append(service)
    return dict(table)
