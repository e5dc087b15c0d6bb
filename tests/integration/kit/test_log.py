"""The log under trouble: lost acknowledgements, lost races, a full stream. A real server always."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nats.errors
import pytest

from kadath import nats_server
from schemas import Actor, Envelope, ids
from schemas.events.benchmark import BenchmarkDraftFailed
from schemas.events.run import RunPauseRequested, RunResumed
from schemas.subjects import EntityKey
from services.kit import streams
from services.kit.errors import Conflict, LogFull, PermissionDenied, SecretLeak, Unavailable
from services.kit.log import Log, key_of
from tests.support.given import START
from tests.support.kernel import Kernel, kernel, voice

RUN = "r1"


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Kernel]:
    with kernel(tmp_path, voice("scheduler"), voice("sandbox")) as found:
        yield found


def event(seq: int, about: str = "main", reason: str = "") -> Envelope:
    """What the scheduler may say about a run; `about` other than `main` is another entity."""
    data = RunResumed(reason=reason) if seq % 2 else RunPauseRequested(mode="epoch", reason=reason)
    return Envelope(
        id=ids.event_id(RUN, "run", about, seq),
        type=data.type,
        v=data.v,
        run=RUN,
        entity="run",
        entity_id=about,
        occurred_at=START,
        seen=0,
        actor=Actor(kind="service", name="scheduler"),
        by="scheduler/test",
        data=data,
    )


def none_yet(*events: Envelope) -> dict[EntityKey, int]:
    return {key_of(e): 0 for e in events}


class Lossy:
    """A real client whose first acknowledgements get lost on their way back."""

    def __init__(self, client: Any, losses: int) -> None:
        self._client = client
        self.losses = losses

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def request(self, subject: str, *more: Any, **options: Any) -> Any:
        reply = await self._client.request(subject, *more, **options)
        if subject.startswith("kadath.evt.") and reply.data and self.losses:
            self.losses -= 1
            raise nats.errors.TimeoutError
        return reply


def lossy(running: Kernel, losses: int) -> Log:
    log = running.context("scheduler").log
    return Log(Lossy(log._client, losses), log._secrets, [])  # type: ignore[arg-type]


async def stored(running: Kernel) -> list[tuple[str, int]]:
    found = await running.log(RUN)
    return [(r.entity_id, r.seq) for r in found]


@pytest.mark.parametrize("abouts", [["main"], ["main", "main"], ["main", "other", "main"]])
def test_a_lost_acknowledgement_doubles_nothing(running: Kernel, abouts: list[str]):
    """One event, several of one entity, and an atomic batch over two entities."""
    events = [event(n, about) for n, about in enumerate(abouts)]
    last = running.run(lossy(running, 1).append(events, none_yet(*events)))
    found = running.run(stored(running))
    assert [about for about, _ in found] == abouts
    assert last == found[-1][1]


@pytest.mark.parametrize("abouts", [["main"], ["main", "other"]])
def test_a_server_that_never_acknowledges_is_unavailable(running: Kernel, abouts: list[str]):
    """What was written meanwhile is found by whoever asks again."""
    events = [event(n, about) for n, about in enumerate(abouts)]

    class Deaf(Lossy):
        async def request(self, subject: str, *more: Any, **options: Any) -> Any:
            if subject.startswith("kadath.evt."):
                raise nats.errors.TimeoutError
            return await self._client.request(subject, *more, **options)

    log = running.context("scheduler").log
    deaf = Log(Deaf(log._client, 0), log._secrets, [])  # type: ignore[arg-type]
    with pytest.raises(Unavailable):
        running.run(deaf.append(events, none_yet(*events)))
    running.run(log.append(events, none_yet(*events)))
    assert [about for about, _ in running.run(stored(running))] == abouts


@pytest.mark.parametrize("abouts", [["main"], ["main", "other"]])
def test_who_comes_second_loses_the_race(running: Kernel, abouts: list[str]):
    """And has written nothing, not even about an entity that nobody else touched."""
    log = running.context("scheduler").log
    first = event(0, "main", reason="first")
    running.run(log.append([first], none_yet(first)))
    late = [event(n, about, reason="late") for n, about in enumerate(abouts)]
    with pytest.raises(Conflict):
        running.run(log.append(late, none_yet(*late)))
    assert len(running.run(stored(running))) == 1


def test_a_full_stream_refuses_and_forgets_nothing(running: Kernel):
    """With what to do; after the limit is raised the same append succeeds."""
    log = running.context("scheduler").log

    async def resize(size: int) -> None:
        platform = running.context("scheduler").platform
        client = await nats_server.connect_operator(platform.nats_url, platform.nkeys["operator"])
        await streams.apply(client, max_bytes=size)
        await client.close()

    async def fill() -> None:
        for n in range(100):
            one = event(n, f"e{n}", reason="x" * 2000)
            await log.append([one], none_yet(one))

    running.run(resize(20_000))
    with pytest.raises(LogFull, match="free disk space"):
        running.run(fill())
    before = running.run(stored(running))
    assert 0 < len(before) < 20
    running.run(resize(1 << 30))
    more = event(0, "more")
    running.run(log.append([more], none_yet(more)))
    assert running.run(stored(running))[: len(before)] == before


def test_a_secret_is_not_written(running: Kernel):
    """Its name is told, its value is not."""
    log = running.context("scheduler").log
    log._secrets.add("MODEL_KEY", "hunter2-hunter2")
    told = event(0, reason="the key is hunter2-hunter2")
    with pytest.raises(SecretLeak, match="MODEL_KEY") as caught:
        running.run(log.append([told], none_yet(told)))
    assert "hunter2" not in str(caught.value)
    assert running.run(stored(running)) == []


def test_a_batch_with_a_foreign_event_is_refused_whole(running: Kernel):
    """One entity, one writer, also inside a batch."""
    own, data = event(0), BenchmarkDraftFailed(tries=1, reason="x")
    foreign = own.model_copy(
        update={"entity": "benchmark", "type": data.type, "v": data.v, "data": data, "id": "x"}
    )
    for batch in ([own, foreign], [foreign, own]):
        with pytest.raises(PermissionDenied):
            running.run(running.context("scheduler").log.append(batch, none_yet(*batch)))
    assert running.run(stored(running)) == []


def test_reading_goes_on_where_it_ended(running: Kernel):
    """A subject without events is empty."""
    log = running.context("scheduler").log
    events = [event(n) for n in range(5)]
    running.run(log.append(events, none_yet(*events)))
    subject = f"kadath.evt.{RUN}.>"
    first = running.run(log.read(subject, limit=3))
    rest = running.run(log.read(subject, after=first[-1].seq))
    assert [len(first), len(rest)] == [3, 2]
    assert running.run(log.read("kadath.evt.other.>")) == []


def test_an_old_server_is_refused(running: Kernel):
    """It would accept a fence and ignore it."""

    class Old:
        async def request(self, subject: str, *_: Any, **__: Any) -> Any:
            return type("Reply", (), {"data": b'{"api": {"level": 2}}'})

    with pytest.raises(RuntimeError, match="use 2.14"):
        asyncio.run(streams.apply(Old()))  # type: ignore[arg-type]
