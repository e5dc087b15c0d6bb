"""Circle packing, the fixed part: geometry, the work budget, and the report.

Evolution changes solver.py only. One tick is one circle checked against all others, so a
budget is the same work on every machine. Only + - * / sqrt and a seeded generator are used:
equal sources and seeds give equal bits everywhere.
"""

import argparse
import json
import random
from math import sqrt

CIRCLES = 26
PRESS = CIRCLES // 2
LIMIT = 6500
MARGIN = 1e-12
SMALL = 0.5 / CIRCLES


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


class Pack:
    """Centres and radii, and what a stage counted while it worked on them."""

    def __init__(self, points):
        """From (x, y) or (x, y, radius); without a radius circles start small."""
        points = points[:CIRCLES]
        self.x = [min(1.0, max(0.0, float(point[0]))) for point in points]
        self.y = [min(1.0, max(0.0, float(point[1]))) for point in points]
        self.r = [float(point[2]) if len(point) > 2 else SMALL for point in points]
        self.tried = 0
        self.accepted = 0
        self.loss = 0.0

    def value(self):
        total = 0.0
        for radius in self.r:  # not sum(): newer interpreters round it differently
            total += radius
        return total

    def copy(self):
        twin = Pack([])
        twin.x, twin.y, twin.r = list(self.x), list(self.y), list(self.r)
        return twin

    def take(self, other):
        self.x, self.y, self.r = list(other.x), list(other.y), list(other.r)

    def keep_better(self, kept, before, pressed=True):
        """Make the packing valid; go back to the one that was kept unless this one is better.

        What that costs a packing that was pressed is its loss: how far the pressing went too far.
        """
        raw = self.value()
        self.fit()
        self.tried += 1
        fitted = self.value()
        self.loss += (raw - fitted) / raw if pressed and raw > 0.0 else 0.0
        if fitted > before:
            self.accepted += 1
        else:
            self.take(kept)

    def room(self, i, x, y):
        """The largest radius circle `i` could have at (x, y); negative when there is none."""
        best = min(x, y, 1.0 - x, 1.0 - y)
        xs, ys, rs = self.x, self.y, self.r
        for j in range(len(xs)):
            if j != i:
                dx = xs[j] - x
                dy = ys[j] - y
                free = sqrt(dx * dx + dy * dy) - rs[j]
                if free < best:
                    best = free
        return best - MARGIN

    def grow(self, order):
        """Give each circle, in this order, all the room that is left to it."""
        for i in order:
            self.r[i] = max(0.0, self.room(i, self.x[i], self.y[i]))

    def press(self, swell, push, give):
        """All circles swell; overlaps then push them apart and make them smaller again."""
        xs, ys, rs = self.x, self.y, self.r
        count = len(xs)
        for i in range(count):
            x, y, radius = xs[i], ys[i], rs[i] + swell
            for j in range(i):
                dx = x - xs[j]
                both = radius + rs[j]
                if dx < both and -dx < both:
                    dy = y - ys[j]
                    square = dx * dx + dy * dy
                    if square < both * both:
                        gap = sqrt(square) or 1e-9
                        over = push * (both - gap)
                        dx *= over / gap / 2.0
                        dy *= over / gap / 2.0
                        x += dx
                        y += dy
                        xs[j] -= dx
                        ys[j] -= dy
                        radius = max(0.001, radius - give * over)
                        rs[j] = max(0.001, rs[j] - give * over)
            xs[i], ys[i], rs[i] = x, y, radius
        for line in (xs, ys):
            for i in range(count):
                for sign, far in ((1.0, line[i]), (-1.0, 1.0 - line[i])):
                    over = push * (rs[i] - far)
                    if over > 0.0:
                        line[i] += sign * over
                        rs[i] = max(0.001, rs[i] - give * over)

    def fit(self):
        """Shrink radii until nothing overlaps, then let each circle grow again."""
        xs, ys, rs = self.x, self.y, self.r
        count = len(xs)
        for i in range(count):
            xs[i] = min(1.0, max(0.0, xs[i]))
            ys[i] = min(1.0, max(0.0, ys[i]))
            rs[i] = max(0.0, min(rs[i], xs[i], ys[i], 1.0 - xs[i], 1.0 - ys[i]))
        for i in range(count):
            for j in range(i):
                dx = xs[j] - xs[i]
                dy = ys[j] - ys[i]
                both = rs[i] + rs[j]
                if dx * dx + dy * dy < both * both:
                    scale = sqrt(dx * dx + dy * dy) / both
                    rs[i] *= scale
                    rs[j] *= scale
        self.r = [max(0.0, radius - MARGIN) for radius in rs]
        self.grow(range(count))


def solve(layout, stages, salt, seed, limit=LIMIT):
    """Lay out, run each (stage, share) within its ticks, and report what each one gained."""
    budget = Budget(limit)
    pack = Pack(layout(random.Random(seed * 1000003 + salt).random))
    pack.fit()
    facts = []
    for number, (stage, share) in enumerate(stages):
        budget.open(share)
        kept, before, first = pack.copy(), pack.value(), budget.used
        pack.tried = pack.accepted = 0
        pack.loss = 0.0
        stage(pack, random.Random(seed * 1000003 + salt * 101 + number + 1).random, budget)
        pack.keep_better(kept, before)
        facts.append(
            {
                "name": stage.__name__,
                "ticks": budget.used - first,
                "before": round(before, 6),
                "after": round(pack.value(), 6),
                "tried": pack.tried,
                "accepted": pack.accepted,
                "loss": round(pack.loss / pack.tried, 6),
            }
        )
    answer = [list(circle) for circle in zip(pack.x, pack.y, pack.r, strict=True)]
    return {
        "answer": answer,
        "value": round(pack.value(), 6),
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
