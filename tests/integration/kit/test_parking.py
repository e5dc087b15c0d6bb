"""What fails again and again is set aside, visibly, and stops nobody else."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kadath import nats_server
from schemas import Draft, Recorded, subjects
from schemas.events.attempt import AttemptFinished, AttemptQueued
from schemas.events.run import RunPauseRequested, RunResumed
from schemas.values.runtime import Limits
from services.kit import edges, leases
from services.kit.engine import Context
from services.kit.errors import Conflict, Unavailable
from services.kit.service import Effect, Reaction, Service
from services.kit.streams import LEASE_SECONDS
from tests.support.kernel import Kernel, kernel, voice

GOOD, BAD = "e001x1-a0001", "e001x1-a0002"


class Seen:
    """A fold that remembers what was queued and finished."""

    def __init__(self, run: str, read: object) -> None:
        self.queued: set[str] = set()
        self.finished: set[str] = set()
        self.due_at: datetime | None = None

    def apply(self, recorded: Recorded) -> None:
        (self.queued if isinstance(recorded.data, AttemptQueued) else self.finished).add(
            recorded.entity_id
        )


def queued(attempt: str) -> Draft:
    event = AttemptQueued(
        attempt=attempt, purpose="epoch", limits=Limits(), wall_seconds=1, finalize_seconds=0
    )
    return Draft(attempt, event)


def done(attempt: str) -> Draft:
    return Draft(attempt, AttemptFinished(outcome="completed"))


def sandbox(**parts: Any) -> Service:
    return Service(name="sandbox", view=Seen, handles=(AttemptQueued, AttemptFinished), **parts)


def _self(recorded: Recorded, view: Any) -> Iterable[str]:
    return (recorded.entity_id,)


async def parked(running: Kernel) -> list[dict[str, Any]]:
    platform = running.context("sandbox").platform
    client = await nats_server.connect_operator(platform.nats_url, platform.nkeys["operator"])
    js = client.jetstream()
    info = await js.stream_info(subjects.PARKED)
    found = [await js.get_msg(subjects.PARKED, n + 1) for n in range(info.state.last_seq)]
    await client.close()
    return [json.loads(message.data or b"") for message in found]


async def until_parked(running: Kernel, count: int = 1) -> list[dict[str, Any]]:
    for _ in range(300):
        found = await parked(running)
        if len(found) >= count:
            return found
        await asyncio.sleep(0.1)
    raise AssertionError("nothing was parked")


def test_a_rule_that_raises_five_times_is_parked_for_its_entity(tmp_path: Path):
    """The other entity is served at once; the parked item says who, what and why."""
    asked: Counter[str] = Counter()

    def decide(view: Seen, about: str, now: datetime) -> list[Draft]:
        asked[about] += 1
        if about == BAD:
            raise ValueError("cannot be decided")
        return [] if about in view.finished else [done(about)]

    rule = Reaction("finish@1", (AttemptQueued,), _self, decide)
    with kernel(tmp_path, sandbox(reactions=(rule,))) as running:
        running.run(running.say("sandbox", "r1", queued(BAD), queued(GOOD)))
        view = running.engine.view("sandbox", "r1")
        running.run(running.until(lambda: view.finished == {GOOD}, 2))
        (item,) = running.run(until_parked(running))
        assert asked[BAD] == 5
        assert {k: item[k] for k in ("service", "name", "run", "about", "error")} == {
            "service": "sandbox",
            "name": "finish@1",
            "run": "r1",
            "about": BAD,
            "error": "ValueError: cannot be decided",
        }


def test_trouble_that_waiting_can_cure_is_not_parked(tmp_path: Path):
    """It is asked again until it is well."""
    asked: list[str] = []

    def decide(view: Seen, about: str, now: datetime) -> list[Draft]:
        asked.append(about)
        if len(asked) < 7:
            raise Unavailable("not now")
        return [] if about in view.finished else [done(about)]

    rule = Reaction("finish@1", (AttemptQueued,), _self, decide)
    with kernel(tmp_path, sandbox(reactions=(rule,))) as running:
        running.run(running.say("sandbox", "r1", queued(GOOD)))
        view = running.engine.view("sandbox", "r1")
        running.run(running.until(lambda: view.finished == {GOOD}, 20))
        assert running.run(parked(running)) == []


def test_an_effect_that_fails_five_times_is_parked(tmp_path: Path):
    """Its siblings go on; a restart of the kernel is no sixth try of the parked one."""
    tried: Counter[str] = Counter()

    async def work(context: Context, recorded: Recorded) -> None:
        tried[recorded.entity_id] += 1
        if recorded.entity_id == BAD:
            raise RuntimeError("cannot be done")
        await context.transact(recorded.run, "sandbox/work", lambda v, at: [done(GOOD)])

    def due(view: Seen, recorded: Recorded) -> bool:
        return recorded.entity_id not in view.finished

    service = sandbox(effects=(Effect("work", AttemptQueued, due, work),))
    with kernel(tmp_path, service) as running:
        running.run(running.say("sandbox", "r1", queued(BAD), queued(GOOD)))
        (item,) = running.run(until_parked(running))
        assert (item["name"], item["about"]) == ("work", BAD)
        assert item["error"] == "RuntimeError: cannot be done"
        assert running.engine.view("sandbox", "r1").finished == {GOOD}
        assert tried == {BAD: 5, GOOD: 1}


def test_a_lease_that_ends_without_an_outcome_comes_back(tmp_path: Path):
    """The next holder, after a restart, takes it up; more items than slots all get their turn."""
    started: list[str] = []
    hanging = True

    async def work(context: Context, recorded: Recorded) -> None:
        started.append(recorded.entity_id)
        if hanging:
            await asyncio.sleep(600)
        about = recorded.entity_id
        await context.transact(recorded.run, "sandbox/work", lambda v, at: [done(about)])

    def due(view: Seen, recorded: Recorded) -> bool:
        return recorded.entity_id not in view.finished

    service = sandbox(effects=(Effect("work", AttemptQueued, due, work, slots=2),))
    names = [f"e001x1-a{n:04d}" for n in range(1, 6)]
    with kernel(tmp_path, service, keep=True) as running:
        running.run(running.say("sandbox", "r1", *map(queued, names)))
        running.run(running.until(lambda: len(started) == 2))
        running.run(asyncio.sleep(0.3))
        assert len(started) == 2
    hanging = False
    with kernel(tmp_path, service) as running:
        view = running.engine.view("sandbox", "r1")
        running.run(running.until(lambda: view.finished == set(names), 20))


def test_a_timer_rings_when_it_is_due(tmp_path: Path):
    """A later event moves it."""
    rung: list[float] = []

    def decide(view: Seen, about: str, now: datetime) -> list[Draft]:
        rung.append(now.timestamp())
        view.due_at = None if len(rung) > 2 else now + timedelta(seconds=0.4)
        return []

    rule = Reaction("wait@1", (AttemptQueued,), _self, decide, due=lambda view, about: view.due_at)
    with kernel(tmp_path, sandbox(reactions=(rule,))) as running:
        running.run(running.say("sandbox", "r1", queued(GOOD)))
        running.run(running.until(lambda: len(rung) == 1))
        running.run(running.say("sandbox", "r1", queued(GOOD)))
        running.run(running.until(lambda: len(rung) == 3))
        assert rung[2] - rung[1] >= 0.39
        running.run(asyncio.sleep(0.6))
        assert len(rung) == 3


def test_a_lost_race_is_decided_again_on_what_the_winner_said(tmp_path: Path):
    """And after eight lost ones the decision is given up with its name."""
    with kernel(tmp_path, voice("scheduler")) as running:
        context = running.context("scheduler")
        rivals = 0
        put = context.blobs.put

        async def interrupted(content: bytes, media: str = "application/json") -> Any:
            """Between the decision and its append another one is written."""
            nonlocal rivals
            if rivals:
                rivals -= 1
                rival = Draft("main", RunPauseRequested(mode="epoch"))
                await running.say("scheduler", "r1", rival)
            return await put(content, media)

        context.blobs = type("Racing", (), {"put": staticmethod(interrupted)})()  # type: ignore
        mine = [Draft("main", RunResumed(reason="mine"), None, (edges.random_bytes(8),))]

        async def decide() -> Any:
            return await context.transact("r1", "scheduler/mine", lambda v, at: mine)

        rivals = 3
        assert len(running.run(decide())) == 1
        assert len(running.run(running.log("r1"))) == 4
        rivals = 100
        with pytest.raises(Conflict, match="scheduler/mine lost 8 races"):
            running.run(decide())


def test_a_service_that_nobody_runs_does_not_answer(tmp_path: Path):
    """After some seconds of asking it is called unavailable."""
    with kernel(tmp_path, voice("sandbox")) as running:
        ask = queued(GOOD).data
        with pytest.raises(Unavailable, match=r"kadath.rpc.broker"):
            running.run(running.call("sandbox", "broker", "token", ask))


def test_garbage_in_the_log_stops_nobody(tmp_path: Path):
    """It stays there, it is counted, and the next event is folded."""
    with kernel(tmp_path, sandbox()) as running:
        client = running.context("sandbox").client
        for body in (b"\xff\xfe", b"{}", b'{"id":"x","type":"attempt.queued","v":99}'):
            subject = subjects.event("r1", GOOD, "attempt.queued")
            running.run(client.request(subject, body, timeout=3))
        running.run(running.say("sandbox", "r2", queued(GOOD)))
        follower = running.engine.follower
        assert follower is not None
        assert follower.unreadable == 3
        assert running.engine.view("sandbox", "r2").queued == {GOOD}


def test_a_long_effect_keeps_its_lease_and_pulls_may_overlap(tmp_path: Path, monkeypatch):
    """It is not given to a second holder; what was pulled above the slots goes back."""
    monkeypatch.setattr(leases, "PULL_SECONDS", 1)
    started: Counter[str] = Counter()
    at_once = 0

    async def work(context: Context, recorded: Recorded) -> None:
        nonlocal at_once
        about = recorded.entity_id
        started[about] += 1
        at_once = max(at_once, sum(started.values()) - len(context.view("r1").finished))
        await asyncio.sleep(LEASE_SECONDS + 1 if about == BAD else 0.05)
        await context.transact(recorded.run, "sandbox/work", lambda v, at: [done(about)])

    def due(view: Seen, recorded: Recorded) -> bool:
        return recorded.entity_id not in view.finished

    service = sandbox(effects=(Effect("work", AttemptQueued, due, work, slots=2),))
    names = [BAD, *(f"e001x1-a{n:04d}" for n in range(3, 9))]
    with kernel(tmp_path, service) as running:
        running.run(asyncio.sleep(1.5))
        running.run(running.say("sandbox", "r1", *map(queued, names)))
        view = running.engine.view("sandbox", "r1")
        running.run(running.until(lambda: view.finished == set(names), 30))
        running.run(asyncio.sleep(0.2))
        assert started == Counter(names)
        assert at_once == 2
