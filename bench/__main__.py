"""`make bench`: figures as ratios in one run, never a timed test. `--full` for the whole size."""

import sys

from bench import appending, attempts
from bench.report import finish, show


def main() -> None:
    print("durability process (sync_interval 1s)")
    found = []
    for measure in (appending.figures, lambda: attempts.figures(1500 if full() else 300)):
        figures = measure()
        show(figures)
        found += figures
    finish(found)


def full() -> bool:
    return "--full" in sys.argv


main()
