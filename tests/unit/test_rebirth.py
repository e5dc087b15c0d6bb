"""A kernel whose child died starts anew, but not for ever."""

import asyncio
import time
from pathlib import Path

import pytest

from kadath import rebirth
from services.kit.supervisor import ChildFailed, Supervisor, Unit


async def _dying(log: Path) -> Supervisor:
    async def ready() -> bool:
        return True

    supervisor = Supervisor()
    await supervisor.start(Unit("short", ["sh", "-c", "echo last words; exit 3"], ready, log))
    return supervisor


def test_a_death_is_told_with_the_last_words(tmp_path):
    """Asked to stop, it is no death."""

    async def scene() -> tuple[str, bool]:
        supervisor = await _dying(tmp_path / "log")
        told = await supervisor.deaths.get()
        await supervisor.stop()
        return told, supervisor.deaths.empty()

    assert asyncio.run(scene()) == ("short ended with 3: last words", True)


def test_children_that_keep_dying_end_the_kernel(tmp_path, monkeypatch):
    """The sixth death within a minute is the last."""
    monkeypatch.setenv(rebirth.DEATHS, " ".join([str(time.time())] * rebirth.TRIES))

    async def scene() -> None:
        await rebirth.when_a_child_dies(await _dying(tmp_path / "log"))

    with pytest.raises(ChildFailed, match="short ended with 3: last words .6 deaths within 60 s"):
        asyncio.run(scene())


def test_old_deaths_are_forgotten():
    """Only the last minute counts."""
    assert rebirth.recent("", 100.0) == []
    assert rebirth.recent("10.5 41.0 99.0", 100.0) == [41.0, 99.0]
