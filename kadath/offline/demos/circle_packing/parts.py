# ruff: noqa: F821 (names come from harness.py, which the assembled solver imports)
"""The parts that programs are built from. Text for the search, never imported by the server.

A part is a function whose first statements set its constants; the search edits those.
"""


def layout_rows(random):
    """Rows of given counts, each as high as its circles are wide; odd rows may be shifted."""
    counts = (6, 6, 5, 5, 4)
    shift = 0.0
    heights = [1.0 / count for count in counts]
    total = 0.0
    for height in heights:
        total += height
    points = []
    base = 0.0
    for row, count in enumerate(counts):
        y = (base + heights[row] / 2.0) / total
        move = shift * (row % 2) / count
        points += [((k + 0.5) / count + move, y) for k in range(count)]
        base += heights[row]
    return points


def layout_found(random):
    """Roughly the circles that an ancestor's run ended with, as they were measured."""
    rows = ((0.5, 0.5, 0.1),)
    return list(rows)


def layout_scatter(random):
    """Uniform points; each is the one of several draws that lies farthest from the others."""
    draws = 3
    points = [(random(), random())]
    while len(points) < CIRCLES:
        best = None
        for _ in range(draws):
            x = random()
            y = random()
            near = min((x - a) * (x - a) + (y - b) * (y - b) for a, b in points)
            near = min(near, x * x, y * y, (1 - x) * (1 - x), (1 - y) * (1 - y))
            if best is None or near > best[0]:
                best = (near, x, y)
        points.append((best[1], best[2]))
    return points


def layout_frame(random):
    """A ring of circles along the walls, a smaller one within, and so on inwards."""
    outer = 16
    thick = 0.18
    points = []
    left = CIRCLES
    inset = thick / 2.0
    count = outer
    while left > 0:
        count = max(1, min(count, left))
        side = max(0.0, 1.0 - 2.0 * inset)
        for k in range(count):
            along = 4.0 * k / count
            edge = int(along)
            t = (along - edge) * side
            x, y = [(t, 0), (side, t), (side - t, side), (0, side - t)][edge]
            points.append((inset + x, inset + y))
        left -= count
        inset = min(0.5, inset + thick)
        count -= 8
    return points


def stage_jitter(pack, random, budget):
    """Move one circle a little; keep it when it can be larger there, or by heat."""
    step = 0.05
    cool = 0.5
    heat = 0.0
    count = len(pack.x)
    while budget.tick(1):
        left = 1.0 - cool * budget.progress()
        i = int(random() * count)
        x = pack.x[i] + step * left * (2.0 * random() - 1.0)
        y = pack.y[i] + step * left * (2.0 * random() - 1.0)
        radius = pack.room(i, x, y)
        pack.tried += 1
        if radius > pack.r[i] - heat * left * random() and radius > 0.0:
            pack.x[i], pack.y[i], pack.r[i] = x, y, radius
            pack.accepted += 1


def stage_relocate(pack, random, budget):
    """Lift a small circle out and drop it into the roomiest of several random places."""
    places = 10
    among = 5
    count = len(pack.x)
    while budget.tick(places):
        small = sorted(range(count), key=pack.r.__getitem__)[: max(1, among)]
        i = small[int(random() * len(small))]
        best = (pack.r[i], pack.x[i], pack.y[i])
        for _ in range(places):
            x = random()
            y = random()
            best = max(best, (pack.room(i, x, y), x, y))
        pack.tried += 1
        pack.accepted += best[0] > pack.r[i]
        pack.r[i], pack.x[i], pack.y[i] = best


def stage_regrow(pack, random, budget):
    """Set all radii to a fraction and let the circles grow again in another order."""
    keep = 0.9
    count = len(pack.x)
    while budget.tick(count):
        old = list(pack.r)
        before = pack.value()
        pack.r = [radius * keep for radius in pack.r]
        order = sorted(range(count), key=lambda i: random())
        pack.grow(order)
        pack.tried += 1
        if pack.value() > before:
            pack.accepted += 1
        else:
            pack.r = old


def stage_swap(pack, random, budget):
    """Exchange the places of two circles and let both and their neighbours grow again."""
    wobble = 0.01
    count = len(pack.x)
    while budget.tick(count + 2):
        kept, before = pack.copy(), pack.value()
        i = int(random() * count)
        j = int(random() * count)
        for a, b in ((i, j), (j, i)):
            pack.x[a] = kept.x[b] + wobble * (random() - 0.5)
            pack.y[a] = kept.y[b] + wobble * (random() - 0.5)
        pack.keep_better(kept, before, pressed=False)


def stage_press(pack, random, budget):
    """All circles swell while overlaps push them apart; the swelling dies away."""
    swell = 0.002
    push = 0.3
    give = 0.3
    fade = 1.0
    while budget.tick(PRESS):
        pack.press(swell * (1.0 - fade * budget.progress()), push, give)


def stage_hop(pack, random, budget):
    """Shake some circles, press everything again, keep what is better; over and over."""
    kick = 0.1
    among = 5
    length = 60
    swell = 0.002
    push = 0.3
    give = 0.3
    while budget.tick(PRESS):
        kept, before = pack.copy(), pack.value()
        for _ in range(among):
            i = int(random() * len(pack.x))
            pack.x[i] += kick * (2.0 * random() - 1.0)
            pack.y[i] += kick * (2.0 * random() - 1.0)
        step = 0
        while step < length and budget.tick(PRESS):
            pack.press(swell * (1.0 - step / length), push, give)
            step += 1
        pack.keep_better(kept, before)


def stage_transplant(pack, random, budget):
    """Put a small circle somewhere else, press everything again, keep what is better."""
    among = 5
    length = 60
    swell = 0.002
    push = 0.3
    give = 0.3
    while budget.tick(PRESS):
        kept, before = pack.copy(), pack.value()
        small = sorted(range(len(pack.r)), key=pack.r.__getitem__)[:among]
        i = small[int(random() * len(small))]
        pack.x[i], pack.y[i], pack.r[i] = random(), random(), 0.01
        step = 0
        while step < length and budget.tick(PRESS):
            pack.press(swell * (1.0 - step / length), push, give)
            step += 1
        pack.keep_better(kept, before)
