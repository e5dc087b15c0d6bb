"""What an attempt costs the kernel: CPU of kernel, nats-server and PostgreSQL, and memory.

A real run of the sorting demo: real sandboxes, the real seed, the offline model over HTTP as the
instant model. The sandboxes' own CPU and the model's are left out: they are other processes.
"""

import asyncio
import tempfile
import time
from pathlib import Path

import psutil

from bench.report import Figure
from kadath.cli.requests import Size
from schemas.events.attempt import AttemptFinished, AttemptStarted
from schemas.events.run import RunRequested, Strategy
from tests.support.machine import Machine, offline_model, until_settled


def cpu(process: psutil.Process) -> float:
    """User and system seconds of one process, its reaped children left out."""
    times = process.cpu_times()
    return times.user + times.system


def kernel_cpu(kernel: psutil.Process) -> float:
    """The kernel, nats-server, and every PostgreSQL process, with what PostgreSQL has reaped."""
    total = cpu(kernel)
    for child in kernel.children(recursive=True):
        try:
            name = child.name()
            if name.startswith("nats-server"):
                total += cpu(child)
            elif name.startswith("postgres"):
                times = child.cpu_times()
                total += times.user + times.system
                total += times.children_user + times.children_system
        except psutil.NoSuchProcess:
            continue
    return total


def memory_mib(kernel: psutil.Process) -> float:
    """Proportional set size of the three programs together."""
    kept = [kernel]
    kept += [
        c for c in kernel.children(recursive=True) if c.name().startswith(("nats", "postgres"))
    ]
    return sum(p.memory_full_info().pss for p in kept) / (1 << 20)


async def measured(machine: Machine, url: str, births: bool, size: Size):  # type: ignore[no-untyped-def]
    """(CPU seconds, events) of one run."""
    assert machine.process is not None
    kernel = psutil.Process(machine.process.pid)
    before = kernel_cpu(kernel)
    run = await machine.request(url, "sorting_network", size, strategy=Strategy(births=births))
    outcome = await until_settled(machine, run, seconds=3000)
    assert outcome.completed is not None, outcome.paused or outcome.failed
    used = kernel_cpu(kernel) - before
    async with machine.client() as client:
        log = [r async for r in client.events(f"kadath.evt.{run}.>", lambda r: False, False)]
    return used, log


def figures(attempts: int) -> list[Figure]:
    size = Size(population=50, epochs=max(attempts // 50, 2))
    with tempfile.TemporaryDirectory(prefix="kadath-bench-") as folder, offline_model() as url:
        machine = Machine(Path(folder))
        machine.start()
        try:
            quiet, log = asyncio.run(measured(machine, url, False, size))
            count = size.population * size.epochs
            found = [
                Figure("kernel_cpu_ms_per_attempt", 1000 * quiet / count, 20, "lower"),
                Figure("throughput_last_fifth_of_first", _fifths(log), 0.9, "higher"),
                Figure("start_to_first_attempt_s", _first(log), 3, "lower"),
            ]
            small = Size(population=50, epochs=2)
            busy, _ = asyncio.run(measured(machine, url, True, small))
            found.append(
                Figure("kernel_cpu_ms_per_attempt_default", 1000 * busy / 100, 40, "lower")
            )
            assert machine.process is not None
            kernel = psutil.Process(machine.process.pid)
            found.append(Figure("kernel_pss_mib", memory_mib(kernel), 400, "lower"))
            return found
        finally:
            machine.stop()


def _fifths(log) -> float:  # type: ignore[no-untyped-def]
    """Attempts a second in the last fifth against the first."""
    ends = [
        r.envelope.occurred_at.timestamp()
        for r in log
        if isinstance(r.data, AttemptFinished) and r.entity_id.count("-") == 1
    ]
    fifth = len(ends) // 5
    first, last = ends[fifth] - ends[0], ends[-1] - ends[-1 - fifth]
    return first / last


def _first(log) -> float:  # type: ignore[no-untyped-def]
    asked = next(r for r in log if isinstance(r.data, RunRequested)).envelope.occurred_at
    started = next(r for r in log if isinstance(r.data, AttemptStarted)).envelope.occurred_at
    return (started - asked).total_seconds()


if __name__ == "__main__":
    began = time.monotonic()
    from bench.report import show

    show(figures(200))
    print(f"{time.monotonic() - began:.0f} s")
