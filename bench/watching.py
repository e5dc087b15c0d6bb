"""Waiting for a run whose kernel may end under it."""

import asyncio

from kadath.cli.watching import Outcome
from tests.support.machine import Machine, until_settled


class KernelGone(RuntimeError):
    """The measured kernel ended before its run did: there is no figure."""


async def completed(machine: Machine, run: str, seconds: float = 6000) -> Outcome:
    """The run's outcome. Raises `KernelGone` at once instead of waiting for a reconnect."""
    settling = asyncio.create_task(until_settled(machine, run, seconds))
    ending = asyncio.create_task(_ended(machine))
    await asyncio.wait({settling, ending}, return_when=asyncio.FIRST_COMPLETED)
    ending.cancel()
    if not settling.done():
        settling.cancel()
        raise KernelGone(f"exit code {ending.result()}: {machine.log()}")
    outcome: Outcome = settling.result()
    assert outcome.completed is not None, outcome.paused or outcome.failed
    return outcome


async def _ended(machine: Machine) -> int:
    assert machine.process is not None
    while (code := machine.process.poll()) is None:  # noqa: ASYNC110
        await asyncio.sleep(0.5)
    return code
