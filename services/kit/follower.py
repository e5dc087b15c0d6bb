"""The one ordered follower of a process: every event once, decoded once, in stream order."""

import asyncio
import logging
from collections.abc import Callable

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import ConsumerConfig, DeliverPolicy

from schemas import CATALOGUE, Recorded, subjects

logger = logging.getLogger(__name__)


class Follower:
    """Feeds `apply` and lets others wait until it has passed a stream sequence."""

    def __init__(self, client: Client, apply: Callable[[Recorded], None]) -> None:
        self._client = client
        self._apply = apply
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self.seq = 0
        self.caught_up = asyncio.Event()
        self.unreadable = 0

    async def start(self, subject: str = subjects.ALL_EVENTS) -> None:
        """Follow from the first event; `caught_up` is set at the end of what is there."""
        js = self._client.jetstream()
        config = ConsumerConfig(deliver_policy=DeliverPolicy.ALL)
        self._subscription = await js.subscribe(
            subject,
            stream=subjects.EVENTS,
            ordered_consumer=True,
            config=config,
            cb=self._on_message,
            pending_msgs_limit=1_000_000,
            pending_bytes_limit=1 << 30,
        )
        info = await self._subscription.consumer_info()
        if not info.num_pending and not info.delivered.consumer_seq:
            self.caught_up.set()

    async def stop(self) -> None:
        await self._subscription.unsubscribe()

    async def wait_for(self, seq: int) -> None:
        """Return once every event up to `seq` has been applied."""
        if self.seq >= seq:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((seq, future))
        await future

    async def _on_message(self, message: Msg) -> None:
        # $JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>.<consumer seq>.<time>.<pending>:
        # splitting is several times cheaper than message.metadata.
        tokens = message.reply.split(".")
        seq = int(tokens[5])
        if seq <= self.seq:  # an ordered consumer that was re-made may repeat
            return
        self._deliver(seq, message.data)
        self._passed(seq)
        if tokens[8] == "0":
            self.caught_up.set()

    def _deliver(self, seq: int, body: bytes) -> None:
        try:
            recorded = Recorded.read(seq, body, CATALOGUE)
        except (ValueError, TypeError) as error:
            # A newer kernel's event, or garbage: it stays in the log, nobody else stops.
            self.unreadable += 1
            logger.error("event %d cannot be read: %s", seq, error)
            return
        self._apply(recorded)

    def _passed(self, seq: int) -> None:
        self.seq = seq
        if not self._waiting:
            return
        still = []
        for wanted, future in self._waiting:
            if wanted > seq:
                still.append((wanted, future))
            elif not future.done():
                future.set_result(None)
        self._waiting = still
