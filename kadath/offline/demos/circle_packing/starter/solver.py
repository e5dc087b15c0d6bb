"""Packs circles into the unit square: a layout, then stages that improve it."""

from harness import CIRCLES, main

PROBLEM = "circle_packing"
SALT = 0


def layout_grid(random):
    """Full rows of a square grid; what is left over shares the strip above them."""
    columns = 6
    side = 1.0 / columns
    rows = CIRCLES // columns
    left = CIRCLES - rows * columns
    points = [(side * (k % columns + 0.5), side * (k // columns + 0.5)) for k in range(CIRCLES)]
    top = (1.0 + rows * side) / 2.0
    points[rows * columns :] = [((k + 0.5) / left, top) for k in range(left)]
    return points


LAYOUT = layout_grid
STAGES = []

if __name__ == "__main__":
    main(LAYOUT, STAGES, SALT)
