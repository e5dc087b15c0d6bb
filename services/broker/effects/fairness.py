"""A queue for each caller ahead of the global limit: one that floods waits for itself only."""

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import AsyncIterator


class Full(Exception):
    """A caller has more requests waiting than it may."""


class Gate:
    """At most `limit` at once, `per_lane` of one lane; free places go round the lanes."""

    def __init__(self, limit: int, per_lane: int, waiting: int = 64) -> None:
        self.limit = limit
        self._per_lane = per_lane
        self._waiting_limit = waiting
        self._wide: set[str] = set()
        self._busy: Counter[str] = Counter()
        self._total = 0
        self._lanes: dict[str, deque[asyncio.Future[None]]] = {}

    def widen(self, lane: str) -> None:
        """This lane is bounded by the global limit alone, and may wait without end."""
        self._wide.add(lane)

    @contextlib.asynccontextmanager
    async def place(self, lane: str) -> AsyncIterator[None]:
        """Hold one place. Raises `Full`."""
        await self._enter(lane)
        try:
            yield
        finally:
            self._leave(lane)

    async def _enter(self, lane: str) -> None:
        if lane not in self._lanes and self._fits(lane):
            self._take(lane)
            return
        queue = self._lanes.setdefault(lane, deque())
        if len(queue) >= self._waiting_limit and lane not in self._wide:
            raise Full(lane)
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._leave(lane)
            raise

    def _fits(self, lane: str) -> bool:
        narrow = lane not in self._wide and self._busy[lane] >= self._per_lane
        return self._total < self.limit and not narrow

    def _take(self, lane: str) -> None:
        self._busy[lane] += 1
        self._total += 1

    def _leave(self, lane: str) -> None:
        self._total -= 1
        self._busy[lane] -= 1
        if not self._busy[lane]:
            del self._busy[lane]
        self._serve()

    def _serve(self) -> None:
        """Whoever is served goes to the end of the ring."""
        for lane in list(self._lanes):
            queue = self._lanes[lane]
            while queue and queue[0].done():  # given up while it waited
                queue.popleft()
            if queue and self._fits(lane):
                self._take(lane)
                queue.popleft().set_result(None)
                del self._lanes[lane]
                self._lanes[lane] = queue
            if not queue:
                self._lanes.pop(lane, None)
