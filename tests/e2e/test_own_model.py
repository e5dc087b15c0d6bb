"""`kadath new` with any OpenAI-compatible server: the same path as the demo, by hand."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kadath.offline.demos import DEMOS
from tests.support.machine import ROOT, Machine, offline_model

DEMO = DEMOS["sorting_network"]


def kadath(machine: Machine, *arguments: str, code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "kadath", "--home", str(machine.where.folder), *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout if code == 0 else done.stderr


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    found = Machine(tmp_path_factory.mktemp("own"))
    found.start()
    yield found
    found.stop()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with offline_model() as found:
        yield found


def new(machine: Machine, url: str, goal: str, *more: str) -> str:
    size = ("--population", "4", "--epochs", "1", "--passes", "1", "--epoch-seconds", "60")
    model = ("--model", "offline", "--api-base", url)
    text = kadath(machine, "new", "--goal", goal, *model, *size, *more, "--json")
    return str(json.loads(text)["run"])


def test_a_person_reads_and_approves_the_benchmark_before_anything_starts(
    machine: Machine, url: str, tmp_path: Path
) -> None:
    """new, show, approve, watch: the run completes and its champion is on the board."""
    for name, text in DEMO.starter.items():
        (tmp_path / name).write_text(text)
    run = new(machine, url, DEMO.goal, "--starter", str(tmp_path))
    _until_drafted(machine, run)
    shown = json.loads(kadath(machine, "show", run, "--json"))
    assert shown["benchmark"]["programs"] and shown["draft"] == 1
    assert json.loads(kadath(machine, "status", run, "--json"))["status"] == "awaiting_approval"
    kadath(machine, "approve", run)
    kadath(machine, "watch", run)
    assert json.loads(kadath(machine, "status", run, "--json"))["status"] == "completed"
    kadath(machine, "pause", run, code=3)


def test_a_goal_that_the_offline_model_cannot_work_on_fails_with_what_to_do(
    machine: Machine, url: str
) -> None:
    """The refusal of the model server is the reason of the failed run."""
    run = new(machine, url, "Write a poem that everybody likes.")
    kadath(machine, "watch", run, code=4)
    found = json.loads(kadath(machine, "events", run, "--json").splitlines()[-1])
    status = json.loads(kadath(machine, "status", run, "--json"))
    assert status["status"] == "failed" and found["event"]["run"] == run


def test_an_unknown_run_is_told_with_a_hint(machine: Machine) -> None:
    """Exit code 3 and the command that lists what there is."""
    told = kadath(machine, "status", "r20000101-000000-000000", code=3)
    assert "kadath runs" in told
    told = kadath(machine, "resume", "r20000101-000000-000000", code=3)
    assert "there is no run" in told


def _until_drafted(machine: Machine, run: str) -> None:
    import time

    for _ in range(100):
        text = kadath(machine, "events", run, "--json")
        if '"benchmark.drafted"' in text:
            return
        time.sleep(0.2)
    raise AssertionError("no draft came")
