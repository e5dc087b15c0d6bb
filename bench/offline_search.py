"""The selection loop of a demo without the kernel: is evolution better than random programs?

Calls the same role functions as the offline server, runs the same solvers and measuring programs,
and prints medians, the gap that was closed and a paired sign test.

    python -m bench.offline_search circle_packing --seeds 20
"""

import argparse
import concurrent.futures
import json
import statistics
import sys
import time
import types
from functools import cache
from itertools import pairwise
from math import comb
from typing import Any, NamedTuple

from kadath.offline.demos import DEMOS, Demo
from kadath.offline.roles import birther, reflection

POPULATION, ELITE, CULLED = 8, 2, 2
Json = dict[str, Any]


class Agent(NamedTuple):
    number: int
    source: str


class Outcome(NamedTuple):
    """One run: the best value after every epoch, and its CPU seconds."""

    seed: int
    arm: str
    curve: list[float]
    cpu_seconds: float


def run(name: str, seed: int, arm: str, epochs: int) -> Outcome:
    """`epochs` graded populations, `epochs - 1` rounds of selection."""
    demo, started = DEMOS[name], time.process_time()
    agents = [Agent(k + 1, demo.toolbox.starter) for k in range(POPULATION)]
    curve, known = [], {demo.toolbox.starter}
    for epoch in range(1, epochs + 1):
        ranked = sorted(agents, key=lambda agent: _rank(demo, agent, seed))
        curve.append(_measured(demo.name, ranked[0].source, seed)["value"])
        if epoch < epochs:
            agents = _turnover(demo, ranked, seed, epoch, arm, known)
    return Outcome(seed, arm, curve, time.process_time() - started)


def _rank(demo: Demo, agent: Agent, seed: int) -> tuple[float, float, int]:
    measured = _measured(demo.name, agent.source, seed)
    if not measured["valid"]:
        return (float("inf"), 0, agent.number)
    if demo.higher_is_better:
        return (-measured["value"], -measured["smallest"], agent.number)
    return (measured["value"], measured["depth"], agent.number)


def _turnover(
    demo: Demo, ranked: list[Agent], seed: int, epoch: int, arm: str, known: set[str]
) -> list[Agent]:
    """The elite stays, the middle adapts, the last ones are replaced by births."""
    elites = ranked[:ELITE]
    changed = []
    for agent in ranked[ELITE : POPULATION - CULLED]:
        source = (
            _adapted(demo, agent, elites, seed, known)
            if arm == "evolution"
            else _born(demo, elites[0], elites, seed, epoch, agent.number, arm, known)
        )
        changed.append(Agent(agent.number, source or agent.source))
    newest = POPULATION + (epoch - 1) * CULLED
    for birth in range(CULLED):
        number, parent = newest + birth + 1, elites[birth % ELITE]
        source = _born(demo, parent, elites, seed, epoch, number, arm, known)
        changed.append(Agent(number, source or parent.source))
    return [*elites, *changed]


def _adapted(
    demo: Demo, agent: Agent, elites: list[Agent], seed: int, known: set[str]
) -> str | None:
    """What a middle agent's reflection proposes; known sources are refused up to three times."""
    shown = {
        "agent": f"a{agent.number:04d}",
        "seed": seed,
        "own": _shown(demo, agent, seed),
        "elites": [_shown(demo, elite, seed) for elite in elites],
    }
    for turn in (1, 2, 3):
        change = reflection.adaptation(shown, turn)
        if change and change.source not in known:
            known.add(change.source)
            return change.source
    return None


def _born(
    demo: Demo,
    parent: Agent,
    elites: list[Agent],
    seed: int,
    epoch: int,
    number: int,
    arm: str,
    known: set[str],
) -> str | None:
    question: Json = {
        "parent": _files(demo, parent, seed),
        "elites": [_files(demo, elite, seed) for elite in elites],
        "objective": demo.goal,
        "strategy": {"name": "random" if arm == "random" else "default", "params": {}},
        "slot": f"a{number:04d}",
        "seed": seed,
        "epoch": epoch,
        "rejected": [],
    }
    for _ in range(5):
        mutation = birther.mutation(question)
        source = mutation.files[0].text if mutation.files else None
        if source and source not in known:
            known.add(source)
            return source
        question["rejected"].append({"mutation": mutation.model_dump()})
    return None


def _shown(demo: Demo, agent: Agent, seed: int) -> Json:
    return {"source": agent.source, "measured": _measured(demo.name, agent.source, seed)}


def _files(demo: Demo, agent: Agent, seed: int) -> Json:
    measured = _measured(demo.name, agent.source, seed)
    return {"files": {"solver.py": agent.source}, "measured": measured}


@cache
def _measured(name: str, source: str, seed: int) -> Json:
    """What the measuring program says about this solver's answer."""
    harness, measure = _modules(name)
    sys.modules["harness"] = harness
    solver: Json = {"__name__": "solver"}
    exec(compile(source, "solver.py", "exec"), solver)
    found = harness.solve(solver["LAYOUT"], solver["STAGES"], solver["SALT"], seed)
    answer: Json = measure.measure(json.loads(json.dumps(found)))
    return answer


@cache
def _modules(name: str) -> tuple[types.ModuleType, types.ModuleType]:
    demo = DEMOS[name]
    texts = {"harness": demo.starter["harness.py"], "measure": demo.champion_files["measure.py"]}
    modules = []
    for title, text in texts.items():
        module = types.ModuleType(title)
        exec(compile(text, f"{title}.py", "exec"), module.__dict__)
        modules.append(module)
    return modules[0], modules[1]


def sign_test(wins: int, losses: int) -> float:
    """Two-sided probability of a split at least this uneven."""
    total = wins + losses
    tail = sum(comb(total, k) for k in range(max(wins, losses), total + 1))
    return min(1.0, 2 * tail / 2**total) if total else 1.0


def report(demo: Demo, outcomes: list[Outcome], epochs: int) -> None:
    """Medians by epoch, range of the last one, and the paired comparison."""
    arms = {arm: [o for o in outcomes if o.arm == arm] for arm in ("evolution", "random")}
    for arm, runs in arms.items():
        medians = [statistics.median(o.curve[k] for o in runs) for k in range(epochs)]
        last = sorted(o.curve[-1] for o in runs)
        shown = " ".join(f"{value:.4f}" for value in medians)
        cpu = statistics.mean(o.cpu_seconds for o in runs)
        print(f"{arm:10} {shown}  last {last[0]:.4f} to {last[-1]:.4f}, {cpu:.1f} s CPU a run")
    start = arms["evolution"][0].curve[0]
    gaps = [(o.curve[-1] - start) / (demo.published_best - start) for o in arms["evolution"]]
    print(f"gap closed by evolution: median {statistics.median(gaps):.1%}")
    sign = 1 if demo.higher_is_better else -1
    pairs = zip(arms["evolution"], arms["random"], strict=True)
    differences = [sign * (e.curve[-1] - r.curve[-1]) for e, r in pairs]
    wins, losses = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    middle = statistics.median(differences)
    print(f"evolution against random: {wins} won, {losses} lost, p = {sign_test(wins, losses):.2g}")
    print(f"median paired difference {middle:.4f}, of medians {_between(arms, sign):.4f}")
    falls = sum(sign * (b - a) < 0 for o in outcomes for a, b in pairwise(o.curve))
    print(f"epochs in which the best value fell: {falls}")


def _between(arms: dict[str, list[Outcome]], sign: int) -> float:
    evolution, rand = (statistics.median(o.curve[-1] for o in runs) for runs in arms.values())
    return sign * (evolution - rand)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("demo", choices=sorted(DEMOS))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    jobs = [
        (options.demo, s, arm, options.epochs) for arm in ("evolution", "random") for s in seeds
    ]
    with concurrent.futures.ProcessPoolExecutor(options.workers) as pool:
        outcomes = list(pool.map(run, *zip(*jobs, strict=True)))
    report(DEMOS[options.demo], outcomes, options.epochs)


if __name__ == "__main__":
    main()
