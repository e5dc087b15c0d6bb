"""What an attempt costs the kernel: CPU of kernel, nats-server and PostgreSQL, and memory.

A real run: real sandboxes, a trivial genome with one model call (`trivial.py`), the offline model
over HTTP as the instant model, a candidate measured in a sandbox of its own. Set-up and genesis are
counted too. The sandboxes' own CPU (bwrap, organism, freezer, measuring program) and the model's
are left out: they are other processes, and the kernel's reaped children are not counted. Both
strategies run the same number of epochs; only attempts of epochs are counted as attempts, so
reflections, trials and births are part of their price.
"""

import asyncio
import contextlib
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from bench import trivial
from bench.report import Figure
from bench.watching import completed
from kadath.cli.requests import Size
from schemas import Recorded, subjects
from schemas.events.attempt import AttemptFinished, AttemptStarted
from schemas.events.run import RunRequested, Strategy
from services.kit.blobs import FileBlobs
from tests.support.machine import Machine, offline_model


def cpu(process: psutil.Process) -> float:
    """User and system seconds of one process, its reaped children left out."""
    times = process.cpu_times()
    return times.user + times.system


class Spent(NamedTuple):
    """CPU seconds by program; PostgreSQL's with what it has reaped."""

    kernel: float
    nats: float
    postgres: float

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent(*(a - b for a, b in zip(self, other, strict=True)))


def spent(kernel: psutil.Process) -> Spent:
    nats = postgres = 0.0
    for child in kernel.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            name = child.name()
            if name.startswith("nats-server"):
                nats += cpu(child)
            elif name.startswith("postgres"):
                times = child.cpu_times()
                postgres += cpu(child) + times.children_user + times.children_system
    return Spent(cpu(kernel), nats, postgres)


def memory_mib(kernel: psutil.Process) -> float:
    """Proportional set size of the three programs together."""
    total = int(kernel.memory_full_info().pss)
    for child in kernel.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if child.name().startswith(("nats-server", "postgres")):
                total += child.memory_full_info().pss
    return total / (1 << 20)


async def measured(
    machine: Machine, url: str, births: bool, size: Size
) -> tuple[float, list[Recorded]]:
    """(kernel CPU in ms an attempt, events) of one run."""
    assert machine.process is not None
    kernel = psutil.Process(machine.process.pid)
    before = spent(kernel)
    files = await trivial.starter(FileBlobs(machine.where.state / "blobs"))
    strategy = Strategy(births=births)
    run = await machine.request(url, "sorting_network", size, starter=files, strategy=strategy)
    await completed(machine, run)
    used = spent(kernel) - before
    async with machine.client() as client:
        log = [r async for r in client.events(subjects.of_run(run), lambda r: False, False)]
    attempts = len(_finished(log))
    assert attempts == size.population * size.epochs
    shares = (f"{name} {1000 * seconds / attempts:.1f}" for name, seconds in used._asdict().items())
    print(f"# ms an attempt, {'default' if births else 'no births'}: {', '.join(shares)}")
    return 1000 * sum(used) / attempts, log


def figures(attempts: int) -> list[Figure]:
    """`attempts` by a population of 50, twice: without births, and with the default strategy."""
    size = Size(population=50, epochs=max(attempts // 50, 2))
    with tempfile.TemporaryDirectory(prefix="kadath-bench-") as folder, offline_model() as url:
        machine = Machine(Path(folder))
        machine.start()
        try:
            quiet, log = asyncio.run(measured(machine, url, False, size))
            busy, _ = asyncio.run(measured(machine, url, True, size))
            assert machine.process is not None
            memory = memory_mib(psutil.Process(machine.process.pid))
        finally:
            machine.stop()
    return [
        Figure("kernel_cpu_ms_per_attempt", quiet, 20, "lower"),
        Figure("kernel_cpu_ms_per_attempt_default", busy, 40, "lower"),
        Figure("throughput_last_fifth_of_first", _fifths(log), 0.9, "higher"),
        Figure("start_to_first_attempt_s", _first(log), 3, "lower"),
        Figure("kernel_pss_mib", memory, 400, "lower"),
    ]


def _finished(log: list[Recorded]) -> list[float]:
    """When each attempt of an epoch ended; reflections, trials and measurements are left out."""
    return [
        r.envelope.occurred_at.timestamp()
        for r in log
        if isinstance(r.data, AttemptFinished) and r.entity_id.count("-") == 1
    ]


def _fifths(log: list[Recorded]) -> float:
    """Attempts a second in the last fifth against the first."""
    ends = _finished(log)
    fifth = len(ends) // 5
    first, last = ends[fifth] - ends[0], ends[-1] - ends[-1 - fifth]
    return first / last


def _first(log: list[Recorded]) -> float:
    asked = next(r for r in log if isinstance(r.data, RunRequested)).envelope.occurred_at
    started = next(r for r in log if isinstance(r.data, AttemptStarted)).envelope.occurred_at
    return (started - asked).total_seconds()


if __name__ == "__main__":
    began = time.monotonic()
    from bench.report import show

    show(figures(int(sys.argv[1]) if len(sys.argv) > 1 else 300))
    print(f"{time.monotonic() - began:.0f} s")
