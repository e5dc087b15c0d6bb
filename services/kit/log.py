"""The event log on JetStream: fenced, idempotent append, and ordered read."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.errors import APIError

from schemas import CATALOGUE, Envelope, Recorded, encode, subjects
from schemas.subjects import EntityKey
from services.kit.edges import Secrets
from services.kit.errors import (
    Conflict,
    KitError,
    LogFull,
    PermissionDenied,
    SecretLeak,
    TooLarge,
    Unavailable,
)

MAX_EVENT_BYTES = 64 * 1024
MAX_STRING_CHARS = 8 * 1024
TRIES = 4
SEQUENTIAL_LIMIT = 10
# The sequence check runs before JetStream's duplicate check, so a retried append
# looks like a conflict (10071) or, in a batch, like a duplicate (10201).
RACE_CODES = frozenset({10071, 10201, 10164})
FENCE = "Nats-Expected-Last-Subject-Sequence"
FENCE_SUBJECT = "Nats-Expected-Last-Subject-Sequence-Subject"

Fences = Mapping[EntityKey, int]
"""Entity -> the stream sequence of its last event that the writer knows; 0: none."""


class Log:
    """The log as one user may write it. `violations` is fed by the connection's error callback."""

    def __init__(self, client: Client, secrets: Secrets, violations: list[str]) -> None:
        self._client = client
        self._secrets = secrets
        self._violations = violations

    async def append(self, events: Sequence[Envelope], fences: Fences) -> int:
        """Write all of `events` or none, in order; return the stream sequence of the last.

        Safe to repeat after a lost acknowledgement. Raises `Conflict` when somebody else
        wrote one of the entities, `PermissionDenied`, `TooLarge`, `SecretLeak`, `LogFull`,
        `Unavailable`.
        """
        bodies = [self._checked(event) for event in events]
        try:
            if len(events) == 1 or _of_one_entity(events):
                return await self._in_order(events, bodies, fences)
            return await self._batch(events, bodies, fences)
        except APIError as error:
            raise self._named(error) from error

    async def read(self, subject: str, after: int = 0, limit: int = 1000) -> list[Recorded]:
        """At most `limit` events of `subject` with a sequence above `after`, in order."""
        return [
            Recorded.read(sequence_of(message), message.data, CATALOGUE)
            for message in await direct_batch(self._client, subject, after + 1, limit)
        ]

    def _checked(self, event: Envelope) -> bytes:
        body = encode(event)
        if len(body) > MAX_EVENT_BYTES:
            raise TooLarge(f"{event.type} has {len(body)} bytes, the limit is {MAX_EVENT_BYTES}")
        if len(body) > MAX_STRING_CHARS and (long := too_long(event.data.model_dump(mode="json"))):
            raise TooLarge(f"{event.type}: {long} is longer than {MAX_STRING_CHARS} characters")
        leak = self._secrets.leaked(body)
        if leak:
            raise SecretLeak(f"{event.type} of {event.entity_id} holds the value of {leak}")
        return body

    async def _in_order(
        self, events: Sequence[Envelope], bodies: Sequence[bytes], fences: Fences
    ) -> int:
        """Each event fenced on the one before; a prefix may land, never a gap."""
        last = fences[key_of(events[0])]
        for event, body in zip(events, bodies, strict=True):
            headers = _headers(event) | _fence(event, last)
            last = await self._publish(event, body, headers, last)
        return last

    async def _publish(
        self, event: Envelope, body: bytes, headers: dict[str, str], expected: int
    ) -> int:
        subject = _subject(event)
        for attempt in range(TRIES):
            try:
                return await self._request(subject, body, headers)
            except nats.errors.TimeoutError:
                self._raise_denied(subject)
                await asyncio.sleep(0.05 * 2**attempt)  # the outcome is unknown: say it again
            except APIError as error:
                if error.err_code not in RACE_CODES:
                    raise
                return await self._landed([event], {key_of(event): expected})
        raise Unavailable(subject)

    async def _batch(
        self, events: Sequence[Envelope], bodies: Sequence[bytes], fences: Fences
    ) -> int:
        """One atomic batch; the first event of each entity carries that entity's fence."""
        for attempt in range(TRIES):
            try:
                return await self._send_batch(events, bodies, fences, attempt)
            except nats.errors.TimeoutError:
                for event in events:
                    self._raise_denied(_subject(event))
                await asyncio.sleep(0.05 * 2**attempt)
            except APIError as error:
                if error.err_code not in RACE_CODES:
                    raise
                return await self._landed(events, fences)
        raise Unavailable(_subject(events[0]))

    async def _send_batch(
        self, events: Sequence[Envelope], bodies: Sequence[bytes], fences: Fences, attempt: int
    ) -> int:
        batch, fenced, sequence = f"{events[0].id}-{attempt}", set[EntityKey](), 0
        for number, (event, body) in enumerate(zip(events, bodies, strict=True), start=1):
            key = key_of(event)
            headers = _headers(event) | {"Nats-Batch-Id": batch, "Nats-Batch-Sequence": str(number)}
            if key not in fenced:
                fenced.add(key)
                headers |= _fence(event, fences[key])
            if number == len(events):
                headers["Nats-Batch-Commit"] = "1"
                sequence = await self._request(_subject(event), body, headers)
            elif number == 1:
                await self._request(_subject(event), body, headers)
            else:
                await self._client.publish(_subject(event), body, headers=headers)
        return sequence

    async def _request(self, subject: str, body: bytes, headers: dict[str, str]) -> int:
        reply = await self._client.request(subject, body, timeout=3, headers=dict(headers))
        if not reply.data:  # an open batch acknowledges its first message with nothing
            return 0
        answer = json.loads(reply.data)
        if "error" in answer:
            raise APIError.from_error(answer["error"])
        return int(answer["seq"])

    async def _landed(self, events: Sequence[Envelope], fences: Fences) -> int:
        """The sequence of our last event if all of ours are in the log already."""
        last = 0
        for key, expected in fences.items():
            ours = {event.id: event for event in events if key_of(event) == key}
            found = await self.read(subjects.entity(key), expected, len(ours) + 8)
            matching = [r for r in found if _same(ours.get(r.envelope.id), r.envelope)]
            if len(matching) != len(ours):
                raise Conflict(f"{key.entity} {key.entity_id} was written by somebody else")
            last = max([last, *(r.seq for r in matching)])
        return last

    def _raise_denied(self, subject: str) -> None:
        # nats-py reports the subject in lower case.
        denied = [text for text in self._violations if f'"{subject}"'.lower() in text.lower()]
        if denied:
            self._violations.remove(denied[0])
            raise PermissionDenied(f"{subject}: this user may not write it")

    def _named(self, error: APIError) -> KitError | APIError:
        if error.err_code == 10077:
            return LogFull("the event stream is full: free disk space or raise its limit")
        return error


def too_long(value: object, path: str = "") -> str | None:
    """Where a string stands that belongs into a blob, or None."""
    match value:
        case str():
            return path if len(value) > MAX_STRING_CHARS else None
        case dict():
            items = ((f"{path}.{key}".lstrip("."), item) for key, item in value.items())
        case list():
            items = ((f"{path}[{n}]", item) for n, item in enumerate(value))
        case _:
            return None
    return next((found for where, item in items if (found := too_long(item, where))), None)


def key_of(event: Envelope) -> EntityKey:
    return EntityKey(event.run, event.entity, event.entity_id)


def _of_one_entity(events: Sequence[Envelope]) -> bool:
    return len(events) <= SEQUENTIAL_LIMIT and len({key_of(event) for event in events}) == 1


def sequence_of(message: Msg) -> int:
    """The stream sequence of a directly fetched message."""
    return int((message.headers or {})["Nats-Sequence"])


async def direct_batch(client: Client, subject: str, start: int, limit: int) -> list[Msg]:
    """Up to `limit` stored messages of `subject` from sequence `start` on."""
    return [message async for message in _direct(client, subject, start, limit)]


async def _direct(client: Client, subject: str, start: int, limit: int) -> AsyncIterator[Msg]:
    inbox = client.new_inbox()
    subscription = await client.subscribe(inbox)
    query = {"seq": max(start, 1), "next_by_subj": subject, "batch": limit}
    try:
        await client.publish(
            f"$JS.API.DIRECT.GET.{subjects.EVENTS}", json.dumps(query).encode(), reply=inbox
        )
        while True:
            message = await subscription.next_msg(timeout=10)
            if (message.headers or {}).get("Status"):  # 204: end of batch, 404: nothing there
                return
            yield message
    finally:
        await subscription.unsubscribe()


def _same(ours: Envelope | None, theirs: Envelope) -> bool:
    return ours is not None and ours.type == theirs.type and ours.data == theirs.data


def _subject(event: Envelope) -> str:
    return subjects.event(event.run, event.entity_id, event.type)


def _headers(event: Envelope) -> dict[str, str]:
    headers = {"Nats-Msg-Id": event.id, "content-type": "application/json"}
    if event.traceparent:
        headers["traceparent"] = event.traceparent
    return headers


def _fence(event: Envelope, expected: int) -> dict[str, str]:
    return {FENCE: str(expected), FENCE_SUBJECT: subjects.entity(key_of(event))}
