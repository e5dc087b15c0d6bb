"""Sorting network, the fixed part: exact testing, the work budget, and the report.

Evolution changes solver.py only. All 2^10 zero-one inputs are held in ten whole numbers, one
bit an input, so a comparator is an `and` and an `or`, and a test of a network is exact. One
tick is one comparator applied to all inputs.
"""

import argparse
import json
import random

WIRES = 10
LIMIT = 4000
INPUTS = 1 << WIRES


def _columns():
    return [sum(1 << case for case in range(INPUTS) if case >> wire & 1) for wire in range(WIRES)]


COLUMNS = _columns()


class Budget:
    """Ticks of one run, handed out to one stage at a time."""

    def __init__(self, limit):
        self.limit = limit
        self.used = 0
        self.start = 0
        self.stop = 0

    def open(self, share):
        self.start = self.used
        self.stop = min(self.limit, self.used + max(0, int(self.limit * share)))

    def tick(self, count=1):
        """Spend `count` ticks; False when the stage's share does not allow it."""
        if self.used + count > self.stop:
            return False
        self.used += count
        return True

    def progress(self):
        """How much of the stage's share is spent, 0 to 1."""
        return (self.used - self.start) / max(1, self.stop - self.start)


class Network:
    """A list of comparators (low wire, high wire), and what a stage counted at work on it."""

    def __init__(self, pairs):
        self.pairs = [(min(a, b), max(a, b)) for a, b in pairs if a != b]
        self.tried = 0
        self.accepted = 0

    def outputs(self, pairs):
        wires = list(COLUMNS)
        for a, b in pairs:
            wires[a], wires[b] = wires[a] & wires[b], wires[a] | wires[b]
        return wires

    def unsorted(self, pairs):
        """How many of the inputs these comparators leave unsorted."""
        wires = self.outputs(pairs)
        wrong = 0
        for k in range(WIRES - 1):
            wrong |= wires[k] & ~wires[k + 1]
        return wrong.bit_count()

    def value(self):
        return len(self.pairs)

    def offer(self, pairs):
        """Take these comparators when they sort and are no more than now."""
        self.tried += 1
        if len(pairs) > len(self.pairs) or self.unsorted(pairs):
            return False
        self.accepted += 1
        self.pairs = list(pairs)
        return True


def useful(pairs):
    """The comparators that exchange something for at least one input."""
    wires = list(COLUMNS)
    kept = []
    for a, b in pairs:
        if wires[a] & ~wires[b]:
            kept.append((a, b))
            wires[a], wires[b] = wires[a] & wires[b], wires[a] | wires[b]
    return kept


def completed(pairs, most):
    """The comparators followed by the cheapest-looking ones until all is sorted, or None."""
    wires = list(COLUMNS)
    for a, b in pairs:
        wires[a], wires[b] = wires[a] & wires[b], wires[a] | wires[b]
    done = list(pairs)
    while len(done) <= most:
        best = (0, 0, 0)
        for a in range(WIRES - 1):
            wrong = (wires[a] & ~wires[a + 1]).bit_count()
            best = max(best, (wrong, -a, a))
        if best[0] == 0:
            return done
        a = best[2]
        done.append((a, a + 1))
        wires[a], wires[a + 1] = wires[a] & wires[a + 1], wires[a] | wires[a + 1]
    return None


def depth(pairs):
    """The number of layers when every comparator is placed as early as it can be."""
    level = [0] * WIRES
    for a, b in pairs:
        level[a] = level[b] = max(level[a], level[b]) + 1
    return max(level)


def solve(layout, stages, salt, seed, limit=LIMIT):
    """Lay out, run each (stage, share) within its ticks, and report what each one gained."""
    budget = Budget(limit)
    network = Network(layout(random.Random(seed * 1000003 + salt).random))
    if network.unsorted(network.pairs):
        network.pairs = completed(network.pairs, 200)
    facts = []
    for number, (stage, share) in enumerate(stages):
        budget.open(share)
        before, first = network.value(), budget.used
        network.tried = network.accepted = 0
        stage(network, random.Random(seed * 1000003 + salt * 101 + number + 1).random, budget)
        facts.append(
            {
                "name": stage.__name__,
                "ticks": budget.used - first,
                "before": before,
                "after": network.value(),
                "tried": network.tried,
                "accepted": network.accepted,
            }
        )
    return {
        "answer": [list(pair) for pair in network.pairs],
        "value": network.value(),
        "depth": depth(network.pairs),
        "ticks": budget.used,
        "limit": limit,
        "stages": facts,
    }


def main(layout, stages, salt=0):
    """`--seed N`, or `--task FILE` to take the seed from a task; prints one JSON object."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--task")
    options = parser.parse_args()
    seed = options.seed
    if options.task:
        with open(options.task, encoding="utf-8") as file:
            seed = json.load(file)["seed"]
    print(json.dumps(solve(layout, stages, salt, seed)))
