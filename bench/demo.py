"""`make bench-demo`: does evolution close the gap, and does it beat random programs?

The runs are those of `kadath demo` (population 8, 6 epochs; `--strategy random` for the control),
all against one running kernel and one offline model. Both arms have the same seeds, the same
number of measured candidates and the same work for each of them.

    python -m bench.demo [--seeds 20] [--parallel 2]
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.offline_search import sign_test
from bench.report import Figure, finish, show
from bench.watching import completed
from kadath.cli import render
from kadath.cli.requests import Size
from kadath.offline.demos import DEMOS, Demo
from schemas.events.run import Strategy
from schemas.values.benchmark import NumericLinear
from tests.support.machine import Machine, offline_model

SIZE = Size(population=8, epochs=6)
ARMS = ("default", "random")
OUT = Path(__file__).parent / "out"
GAP_SEEDS = 5


class Job(NamedTuple):
    demo: str
    arm: str
    seed: int


Curves = dict[Job, list[float]]
"""The best value after every epoch, in the demo's own unit."""


def value(demo: Demo, score: float) -> float:
    """What was measured, out of the score: the benchmark's own line read backwards."""
    benchmark = demo.benchmark()
    line = benchmark.criteria[0].measurement
    assert isinstance(line, NumericLinear)
    low, high = float(benchmark.score_range.low), float(benchmark.score_range.high)
    share = (score - low) / (high - low)
    return float(line.minimum) + share * (float(line.target) - float(line.minimum))


async def curve(machine: Machine, url: str, job: Job) -> list[float]:
    strategy = Strategy.model_validate({"name": job.arm})
    run = await machine.request(url, job.demo, SIZE, job.seed, strategy=strategy)
    outcome = await completed(machine, run)
    return [value(DEMOS[job.demo], float(row.best)) for row in outcome.rows]


async def all_curves(machine: Machine, url: str, jobs: Sequence[Job], parallel: int) -> Curves:
    """`parallel` runs at a time: one kernel shares its slots among them."""
    found: Curves = {}
    waiting = iter(jobs)

    async def worker() -> None:
        for job in waiting:
            found[job] = await curve(machine, url, job)
            print(f"# {job.demo} {job.arm} seed {job.seed}: {found[job][-1]:.6g}", flush=True)

    await asyncio.gather(*(worker() for _ in range(parallel)))
    return found


def figures(name: str, curves: Curves, seeds: Sequence[int]) -> list[Figure]:
    """The bars of one demo."""
    demo = DEMOS[name]
    sign = 1 if demo.higher_is_better else -1
    ours, control = ([curves[Job(name, arm, s)] for s in seeds] for arm in ARMS)
    gained = [sign * (o[-1] - c[-1]) for o, c in zip(ours, control, strict=True)]
    wins, losses = sum(d > 0 for d in gained), sum(d < 0 for d in gained)
    probability = sign_test(wins, losses)
    print(f"# {name}: {wins} won, {losses} lost against random, p = {probability:.3g}")
    falls = sum(sign * (b - a) < 0 for line in ours for a, b in pairwise(line))
    found = [Figure(f"{name}_epochs_in_which_best_fell", falls, 0, "lower")]
    if demo.higher_is_better:
        closed = median(gap_closed(line, demo.published_best) for line in ours[:GAP_SEEDS])
        found.append(Figure(f"{name}_gap_closed_median", closed, 0.8, "higher"))
        better = probability if wins > losses else 1.0
        found.append(Figure(f"{name}_sign_test_p", better, 0.05, "lower"))
    else:
        found.append(Figure(f"{name}_comparators_gained_median", median(gained), 3, "higher"))
    return found


def gap_closed(line: Sequence[float], published_best: float) -> float:
    """The share of the way from generation one's best to the published best."""
    return (line[-1] - line[0]) / (published_best - line[0])


def draw(name: str, curves: Curves, seeds: Sequence[int]) -> None:
    """The medians of both arms by epoch, in the terminal and as a PNG."""
    lines = medians(name, curves, seeds)
    print(render.terminal_curve({arm: list(line) for arm, line in lines.items()}))
    OUT.mkdir(exist_ok=True)
    png = OUT / f"{name}.png"
    title = f"best value, median of {len(seeds)} seeds"
    render.png_curve(png, dict(lines), DEMOS[name].published_best, title)
    print(f"# curves: {png.relative_to(OUT.parent.parent)}")


def medians(name: str, curves: Curves, seeds: Sequence[int]) -> Mapping[str, list[float]]:
    return {
        "evolution" if arm == "default" else arm: [
            median(curves[Job(name, arm, seed)][epoch] for seed in seeds)
            for epoch in range(SIZE.epochs)
        ]
        for arm in ARMS
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--parallel", type=int, default=2)
    options = parser.parse_args()
    seeds, began = range(1, options.seeds + 1), time.monotonic()
    jobs = [Job(name, arm, seed) for name in DEMOS for seed in seeds for arm in ARMS]
    with tempfile.TemporaryDirectory(prefix="kadath-bench-") as folder, offline_model() as url:
        machine = Machine(Path(folder))
        machine.start()
        try:
            curves = asyncio.run(all_curves(machine, url, jobs, options.parallel))
        finally:
            machine.stop()
    found = []
    for name in DEMOS:
        draw(name, curves, seeds)
        found += figures(name, curves, seeds)
    show(found)
    print(f"# {len(jobs)} runs in {time.monotonic() - began:.0f} s")
    finish(found)


if __name__ == "__main__":
    main()
