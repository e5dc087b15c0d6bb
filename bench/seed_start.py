"""CPU seconds of the seed from exec to its first model call, bytecode compiled; limit 0.35.

    python -m bench.seed_start [--rounds 5]

Each round is a real process; the reading is taken from /proc when the request arrives.
"""

import argparse
import json
import os
import statistics
from pathlib import Path

from tests.support.attempt import Attempt
from tests.support.stub_model import StubModel

LIMIT_SECONDS = 0.35
TICKS = os.sysconf("SC_CLK_TCK")


def measure(rounds: int) -> list[float]:
    """One figure a round: user and system time of the process."""
    return [_round() for _ in range(rounds)]


def _round() -> float:
    found: list[float] = []

    def script(_: object) -> str:
        found.append(_cpu_seconds(process.pid))
        return "ready"

    with StubModel(script) as stub, Attempt(purpose="epoch", steps=1) as attempt:
        process = attempt.start(stub.base_url)
        process.communicate(timeout=30)
    return found[0]


def _cpu_seconds(pid: int) -> float:
    """From the scheduler's nanoseconds where the kernel gives them, else in clock ticks."""
    path = Path(f"/proc/{pid}")
    try:
        nanoseconds = sum(
            int(task.joinpath("schedstat").read_text().split()[0]) for task in path.glob("task/*")
        )
    except OSError:
        nanoseconds = 0
    if nanoseconds:
        return nanoseconds / 1e9
    fields = (path / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    figures = measure(parser.parse_args().rounds)
    median = statistics.median(figures)
    print(
        json.dumps(
            {
                "cpu_seconds": [round(f, 3) for f in figures],
                "median": round(median, 3),
                "limit": LIMIT_SECONDS,
            }
        )
    )
    raise SystemExit(0 if median <= LIMIT_SECONDS else 1)


if __name__ == "__main__":
    main()
