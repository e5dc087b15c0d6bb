"""Builds a sorting network of few comparators: a layout, then stages that shorten it."""

from harness import WIRES, main

PROBLEM = "sorting_network"
SALT = 0


def layout_bubble(random):
    """Bubble sort, written out as comparators of neighbours."""
    return [(k, k + 1) for end in range(WIRES - 1, 0, -1) for k in range(end)]


LAYOUT = layout_bubble
STAGES = []

if __name__ == "__main__":
    main(LAYOUT, STAGES, SALT)
