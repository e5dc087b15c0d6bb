"""Effects: impure work pulled from a durable consumer, held by a heartbeat while it lasts."""

import asyncio
import json
import logging
from collections import defaultdict

from nats.aio.client import Client
from nats.aio.msg import Msg

from schemas import CATALOGUE, Recorded, decode, subjects
from services.kit.engine import Context
from services.kit.service import Effect
from services.kit.streams import LEASE_SECONDS
from services.kit.telemetry import span

logger = logging.getLogger(__name__)

PARK_AFTER = 5
PULL_SECONDS = 60


def consumer_name(service: str, effect: Effect) -> str:
    return f"{service}-{effect.name}"


class Leases:
    """Holds at most `slots` items of one effect; asks for the next only when a slot is free."""

    def __init__(self, client: Client, context: Context, effect: Effect) -> None:
        self._client = client
        self._context = context
        self._effect = effect
        self._consumer = consumer_name(context.service.name, effect)
        self._inbox = client.new_inbox()
        self._failures: dict[int, int] = defaultdict(int)
        self._tasks: set[asyncio.Task[None]] = set()
        self._asking: set[asyncio.Task[None]] = set()
        self._asked = 0
        self._closed = False

    async def start(self) -> None:
        self._subscription = await self._client.subscribe(self._inbox, cb=self._on_message)
        self._keeper = asyncio.create_task(self._keep_asking())

    async def close(self) -> None:
        """Stop asking, end what is held; unacknowledged items come back to the next holder."""
        self._closed = True
        self._keeper.cancel()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(self._keeper, *self._tasks, return_exceptions=True)

    async def _keep_asking(self) -> None:
        """Renew the pull requests: they expire, and a reconnect forgets them."""
        while True:
            self._asked = 0
            await self._ask()
            await asyncio.sleep(PULL_SECONDS)

    async def _ask(self) -> None:
        free = self._effect.slots - len(self._tasks) - self._asked
        if free <= 0 or self._closed:
            return
        self._asked += free
        query = {"batch": free, "expires": (PULL_SECONDS + 1) * 1_000_000_000}
        subject = f"$JS.API.CONSUMER.MSG.NEXT.{subjects.EVENTS}.{self._consumer}"
        await self._client.publish(subject, json.dumps(query).encode(), reply=self._inbox)

    async def _on_message(self, message: Msg) -> None:
        status = (message.headers or {}).get("Status")
        if status:
            if status not in ("404", "408", "100"):
                logger.warning("%s: pull answered %s", self._consumer, status)
            return
        self._asked = max(self._asked - 1, 0)
        if len(self._tasks) >= self._effect.slots:
            await message.nak(delay=1.0)  # two pulls overlapped; somebody else may take it
            return
        task = asyncio.create_task(self._hold(message))
        self._tasks.add(task)
        task.add_done_callback(self._released)

    def _released(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not self._closed:
            asking = asyncio.create_task(self._ask())
            self._asking.add(asking)  # the loop itself holds a task only weakly
            asking.add_done_callback(self._asking.discard)

    async def _hold(self, message: Msg) -> None:
        heartbeat = asyncio.create_task(self._beat(message))
        seq = int(message.reply.split(".")[5])
        try:
            await self._work(Recorded.read(seq, message.data, CATALOGUE))
            await message.ack()
        except asyncio.CancelledError:
            raise
        except Exception as error:  # the one place that keeps a broken effect from stopping others
            await self._failed(message, seq, error)
        finally:
            heartbeat.cancel()

    async def _work(self, recorded: Recorded) -> None:
        context = self._context
        assert context.engine.follower is not None
        await context.engine.follower.wait_for(recorded.seq)
        if not self._effect.due(context.view(recorded.run), recorded):
            return
        by = f"{context.service.name}/{self._effect.name}"
        with span(by, recorded.run, recorded.entity_id, link=recorded.envelope.traceparent):
            await self._effect.run(context, recorded)

    async def _beat(self, message: Msg) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            await message.in_progress()

    async def _failed(self, message: Msg, seq: int, error: Exception) -> None:
        self._failures[seq] += 1
        count = self._failures[seq]
        logger.warning(
            "%s failed on event %d (%d): %s", self._consumer, seq, count, error, exc_info=True
        )
        if count < PARK_AFTER:
            await message.nak(delay=min(0.1 * 2**count, 10.0))
            return
        envelope = decode(message.data, CATALOGUE)
        name = self._effect.name
        await self._context.parking.park(name, envelope.run, envelope.entity_id, error)
        await message.term()
