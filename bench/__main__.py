"""`make bench`: figures as ratios in one run, never a timed test. `--full` for the whole size."""

import sys

from bench import appending, attempts, folding
from bench.report import finish, show


def main() -> None:
    print("durability process (sync_interval 1s)")
    found = []
    events, stays = (1_000_000, 1500) if full() else (100_000, 300)
    folds = lambda: folding.figures(events)  # noqa: E731
    for measure in (appending.figures, folds, lambda: attempts.figures(stays)):
        figures = measure()
        show(figures)
        found += figures
    finish(found)


def full() -> bool:
    return "--full" in sys.argv


main()
