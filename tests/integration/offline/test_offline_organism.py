"""The real organism against the real server: an attempt, then a reflection on it."""

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kadath.offline.demos import DEMOS
from kadath.offline.search.program import problem_of
from seed.layer import FRAMEWORK
from tests.integration.offline.server_process import Offline

BWRAP = shutil.which("bwrap")
DEMO = DEMOS["circle_packing"]
MOUNTS = ("genome", "input", "signals", "elites")

pytestmark = pytest.mark.skipif(BWRAP is None, reason="bubblewrap is not installed")


@pytest.fixture(scope="module")
def offline() -> Iterator[Offline]:
    server = Offline()
    yield server
    server.close()


def prepared(root: Path) -> Path:
    """Genome with the demo's starter, and empty places."""
    for name in (*MOUNTS[1:], "state/workspace"):
        (root / name).mkdir(parents=True)
    shutil.copytree(FRAMEWORK, root / "genome")
    for name, text in DEMO.starter.items():
        (root / "genome" / name).write_text(text)
    return root


def lived(root: Path, offline: Offline, purpose: str) -> None:
    """One attempt of this purpose, to its end."""
    task = {
        "agent": "a0004",
        "attempt": "e001x1-a0004",
        "purpose": purpose,
        "goal": DEMO.goal,
        "criterion": "sum of radii",
        "model": "offline",
        "limits": {"passes": 1, "steps": 6},
        "deadline_at": time.time() + 60,
        "seed": 7,
    }
    (root / "input" / "task.json").write_text(json.dumps(task))
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PYTHONPATH": "/genome",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENAI_BASE_URL": offline.url,
        "KADATH_TOKEN": "t",
        "KADATH_TASK": "/input/task.json",
    }
    command = [
        *(BWRAP, "--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"),
        *("--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib"),
        *("--symlink", "usr/lib64", "/lib64", "--tmpfs", "/tmp"),
        *(part for name in MOUNTS for part in ("--ro-bind", str(root / name), f"/{name}")),
        *("--bind", str(root / "state"), "/state", "--chdir", "/state", "--clearenv"),
        *(part for pair in environment.items() for part in ("--setenv", *pair)),
        *("/usr/bin/python3", "/genome/organism.py"),
    ]
    done = subprocess.run([str(part) for part in command], capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]


def test_an_attempt_and_its_reflection(tmp_path: Path, offline: Offline) -> None:
    """One model call makes a measurable candidate; two calls make a mutation of the solver."""
    root = prepared(tmp_path / "root")
    before = offline.stats()["requests"]
    lived(root, offline, "epoch")
    candidate = json.loads((root / "state" / "candidate.json").read_text())
    assert candidate["value"] == 2.333333
    assert json.loads((root / "state" / "result.json").read_text())["provisional"] == 2.333333
    assert offline.stats()["requests"] == before + 1

    measured = candidate | {"valid": True}
    shutil.copytree(root / "genome", root / "elites" / "a0001")
    elite = {"agent": "a0001", "score": 2.333333, "tree": "/elites/a0001", "measured": measured}
    context = {
        "agent": "a0004",
        "rank": 4,
        "score": 2.333333,
        "measured": measured,
        "board": [],
        "elites": [elite],
        "seed": 11,
    }
    (root / "input" / "context").mkdir()
    (root / "input" / "context" / "context.json").write_text(json.dumps(context))
    lived(root, offline, "reflection")
    mutation = json.loads((root / "state" / "mutation.json").read_text())
    assert mutation["action"] == "mutate"
    assert problem_of(mutation["files"][0]["text"]) == DEMO.name
    assert offline.stats()["requests"] == before + 3
