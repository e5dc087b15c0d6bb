"""`python -m tests.mutants`: every mistake must be noticed by the unit tests of its service."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.mutants.mutants import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("schemas", "services", "tests/unit", "tests/support", "kadath/audit")
SINGLE = ("pyproject.toml", "tests/conftest.py", "kadath/__init__.py")


def copied(root: Path) -> None:
    """Only what the tests of the cores import; never compiled code, which could be stale."""
    for name in NEEDED:
        ignored = shutil.ignore_patterns("__pycache__", "examples", "json")
        shutil.copytree(ROOT / name, root / name, ignore=ignored)
    for name in SINGLE:
        shutil.copy(ROOT / name, root / name)


def passes(root: Path, tests: str) -> bool:
    """Whether the tests of one service hold in the copy."""
    command = [sys.executable, "-m", "pytest", tests, "-x", "-q", "-p", "no:cacheprovider"]
    env = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{tests} could not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode == 0


def killed(root: Path, mutant: Mutant) -> bool:
    """Apply one mistake, test, take it back."""
    path = root / mutant.file
    original = path.read_text()
    if original.count(mutant.before) != 1:
        sys.exit(f"{mutant.file} has not exactly one {mutant.before!r}")
    path.write_text(original.replace(mutant.before, mutant.after))
    try:
        return not passes(root, mutant.tests)
    finally:
        path.write_text(original)


def main() -> None:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        root = Path(folder)
        copied(root)
        for tests in sorted({mutant.tests for mutant in MUTANTS}):
            if not passes(root, tests):
                sys.exit(f"{tests} fails without any mutant")
        survivors = [mutant for mutant in MUTANTS if not _told(root, mutant)]
    dead = len(MUTANTS) - len(survivors)
    print(f"{dead} of {len(MUTANTS)} killed in {time.monotonic() - began:.0f} s")
    sys.exit(bool(survivors))


def _told(root: Path, mutant: Mutant) -> bool:
    dead = killed(root, mutant)
    verdict = "killed  " if dead else "SURVIVED"
    print(f"{verdict} {mutant.file}: {mutant.before} -> {mutant.after}", flush=True)
    return dead


if __name__ == "__main__":
    main()
