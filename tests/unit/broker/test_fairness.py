"""Who is asked next when all want to be asked."""

import asyncio

import pytest

from services.broker.core import retry
from services.broker.effects.fairness import Full, Gate


async def _enter(gate: Gate, lane: str, order: list[str], leave: asyncio.Event) -> None:
    async with gate.place(lane):
        order.append(lane)
        await leave.wait()


def test_a_flood_waits_for_itself_only() -> None:
    """The lane that comes last gets the next free place before the flood's backlog."""

    async def story() -> None:
        gate, order = Gate(limit=2, per_lane=2), list[str]()
        leave = [asyncio.Event() for _ in range(6)]
        tasks = [
            asyncio.create_task(_enter(gate, lane, order, event))
            for lane, event in zip(["a"] * 5 + ["b"], leave, strict=True)
        ]
        await asyncio.sleep(0)
        assert order == ["a", "a"]
        for event in leave:
            event.set()
        await asyncio.gather(*tasks)
        assert order.index("b") == 3

    asyncio.run(story())


def test_a_lane_has_its_own_limit() -> None:
    async def story() -> None:
        gate, order, leave = Gate(limit=8, per_lane=2), list[str](), asyncio.Event()
        tasks = [asyncio.create_task(_enter(gate, "a", order, leave)) for _ in range(3)]
        tasks += [asyncio.create_task(_enter(gate, "b", order, leave))]
        await asyncio.sleep(0)
        assert order == ["a", "a", "b"]
        leave.set()
        await asyncio.gather(*tasks)

    asyncio.run(story())


def test_whoever_gives_up_waiting_takes_no_place() -> None:
    async def story() -> None:
        gate, order, leave = Gate(limit=1, per_lane=1), list[str](), asyncio.Event()
        first = asyncio.create_task(_enter(gate, "a", order, leave))
        await asyncio.sleep(0)
        second = asyncio.create_task(_enter(gate, "b", order, leave))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        leave.set()
        await first
        await asyncio.wait_for(_enter(gate, "c", order, leave), 1)
        assert order == ["a", "c"]

    asyncio.run(story())


def test_a_lane_waits_in_bounds() -> None:
    async def story() -> None:
        gate, leave = Gate(limit=1, per_lane=1, waiting=1), asyncio.Event()
        tasks = [asyncio.create_task(_enter(gate, "a", [], leave)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(Full):
            await _enter(gate, "a", [], leave)
        leave.set()
        await asyncio.gather(*tasks)

    asyncio.run(story())


def test_pauses_grow_are_jittered_and_honour_the_server() -> None:
    assert [retry.pause(n, None, 0.0) for n in (1, 2, 3)] == [0.05, 0.1, 0.2]
    assert retry.pause(1, None, 0.999) > retry.pause(1, None, 0.0)
    assert retry.pause(1, 7.0, 0.5) == 7.0
    assert retry.pause(1, 10_000.0, 0.5) == retry.LONGEST_ASKED_SECONDS
