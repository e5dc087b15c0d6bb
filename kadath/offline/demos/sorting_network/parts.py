# ruff: noqa: F821 (names come from harness.py, which the assembled solver imports)
"""The parts that programs are built from. Text for the search, never imported by the server.

A part is a function whose first statements set its constants; the search edits those.
"""


def layout_transposition(random):
    """Odd-even transposition: neighbours in alternating layers."""
    return [(k, k + 1) for layer in range(WIRES) for k in range(layer % 2, WIRES - 1, 2)]


def layout_found(random):
    """The network that an ancestor's run ended with, as the measuring program verified it."""
    rows = ((0, 1),)
    return list(rows)


def layout_selection(random):
    """Selection sort: every wire is compared with all later ones."""
    return [(a, b) for a in range(WIRES) for b in range(a + 1, WIRES)]


def layout_insertion(random):
    """Insertion sort: every value sinks to its place among the earlier ones."""
    return [(k - 1, k) for end in range(1, WIRES) for k in range(end, 0, -1)]


def stage_remove(network, random, budget):
    """Leave out some comparators at random; keep what still sorts."""
    many = 1
    while budget.tick(len(network.pairs)):
        pairs = list(network.pairs)
        for _ in range(many):
            if pairs:
                pairs.pop(int(random() * len(pairs)))
        network.offer(pairs)


def stage_move(network, random, budget):
    """Move a comparator up to `far` places; then leave out what exchanges nothing."""
    far = 5
    while budget.tick(len(network.pairs)):
        pairs = list(network.pairs)
        pair = pairs.pop(int(random() * len(pairs)))
        place = int(random() * (2 * far + 1)) - far
        pairs.insert(max(0, min(len(pairs), place + len(pairs) // 2)), pair)
        network.offer(useful(pairs))


def stage_rewire(network, random, budget):
    """Give some comparators another end; keep what sorts and is not longer."""
    many = 1
    drop = 0.1
    while budget.tick(len(network.pairs)):
        pairs = list(network.pairs)
        for _ in range(many):
            k = int(random() * len(pairs))
            a = pairs[k][int(random() * 2)]
            b = int(random() * WIRES)
            if a != b:
                pairs[k] = (min(a, b), max(a, b))
        if random() < drop:
            pairs.pop(int(random() * len(pairs)))
        network.offer(useful(pairs))


def stage_cut(network, random, budget):
    """Cut the network at some place, add a few random comparators, and complete it."""
    keep = 0.5
    fresh = 3
    while budget.tick(2 * len(network.pairs)):
        size = len(network.pairs)
        pairs = network.pairs[: int(size * (keep + (1.0 - keep) * random()))]
        for _ in range(fresh):
            a = int(random() * WIRES)
            b = int(random() * WIRES)
            if a != b:
                pairs.append((min(a, b), max(a, b)))
        whole = completed(pairs, size + 5)
        if whole is not None:
            network.offer(useful(whole))


def stage_exchange(network, random, budget):
    """Exchange two comparators in the order; then leave out what exchanges nothing."""
    times = 1
    while budget.tick(len(network.pairs)):
        pairs = list(network.pairs)
        for _ in range(times):
            i = int(random() * len(pairs))
            j = int(random() * len(pairs))
            pairs[i], pairs[j] = pairs[j], pairs[i]
        network.offer(useful(pairs))


def stage_splice(network, random, budget):
    """Insert a random comparator early on; leave out what exchanges nothing, then one more."""
    early = 0.5
    while budget.tick(2 * len(network.pairs)):
        pairs = list(network.pairs)
        a = int(random() * WIRES)
        b = int(random() * WIRES)
        if a != b:
            pairs.insert(int(random() * len(pairs) * early), (min(a, b), max(a, b)))
            pairs = useful(pairs)
            pairs.pop(int(random() * len(pairs)))
            network.offer(useful(pairs))


def stage_sweep(network, random, budget):
    """Leave out `width` comparators side by side, place after place; keep what still sorts."""
    width = 1
    place = 0
    while budget.tick(len(network.pairs)):
        pairs = network.pairs[:place] + network.pairs[place + width :]
        if not network.offer(useful(pairs)):
            place = (place + 1) % len(network.pairs)


def stage_mirror(network, random, budget):
    """Turn the network upside down, then exchange neighbours in the order a few times."""
    times = 1
    while budget.tick(len(network.pairs)):
        pairs = [(WIRES - 1 - b, WIRES - 1 - a) for a, b in network.pairs]
        for _ in range(times):
            k = int(random() * (len(pairs) - 1))
            pairs[k], pairs[k + 1] = pairs[k + 1], pairs[k]
        network.offer(useful(pairs))
