"""`python -m tests.coverage`: branch coverage of the parts that must be covered, one line each.

Runs the tests that work in this process; whole runs (e2e, fault) are other processes.
"""

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

TESTS = ("tests/unit", "tests/property", "tests/integration")
BAR = 95.0


def package(file: str) -> str | None:
    """The package that a file counts for, or None."""
    parts = Path(file).parts
    if parts[0] == "schemas":
        return "schemas"
    if parts[:2] == ("services", "kit"):
        return "services/kit"
    return "/".join(parts[:3]) if "core" in parts[2:3] else None


def covered(files: dict[str, Any]) -> dict[str, float]:
    """Per cent of the branches that were taken, by package; without branches 100."""
    taken: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for file, found in files.items():
        name = package(file)
        if name is not None:
            taken[name][0] += found["summary"]["covered_branches"]
            taken[name][1] += found["summary"]["num_branches"]
    return {name: 100 * got / of if of else 100.0 for name, (got, of) in sorted(taken.items())}


def main() -> int:
    """The exit code: of the tests when they fail, 1 when a package is short."""
    with tempfile.TemporaryDirectory(prefix="kadath-coverage-") as folder:
        coverage = (sys.executable, "-m", "coverage")
        data = f"--data-file={folder}/data"
        tests = subprocess.run([*coverage, "run", data, "-m", "pytest", *TESTS, *sys.argv[1:]])
        report = f"{folder}/report.json"
        subprocess.run([*coverage, "json", data, "-q", "-o", report], check=True)
        files = json.loads(Path(report).read_text())["files"]
    if tests.returncode:
        return tests.returncode
    found = covered(files)
    for name, percent in found.items():
        print(f"{name:<26} {percent:6.1f} {BAR:.0f} {'ok' if percent >= BAR else 'short'}")
    return int(any(percent < BAR for percent in found.values()))


if __name__ == "__main__":
    sys.exit(main())
