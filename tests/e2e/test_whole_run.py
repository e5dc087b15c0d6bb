"""A whole run on the embedded kernel: equal seeds, replay, export, verification."""

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.machine import ROOT, Machine


class Ran(NamedTuple):
    """Two runs of one seed and one of another, on one home."""

    machine: Machine
    first: dict[str, Any]
    same: dict[str, Any]
    other: dict[str, Any]


def kadath(machine: Machine, *arguments: str, code: int = 0) -> str:
    """The program as a user calls it."""
    done = subprocess.run(
        [sys.executable, "-m", "kadath", "--home", str(machine.where.folder), *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == code, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def demo(machine: Machine, seed: int) -> dict[str, Any]:
    size = ("--population", "4", "--epochs", "3")
    text = kadath(
        machine, "demo", "--goal", "sorting_network", *size, "--seed", str(seed), "--json"
    )
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    machine = Machine(tmp_path_factory.mktemp("whole"))
    machine.start()
    yield Ran(machine, demo(machine, 0), demo(machine, 0), demo(machine, 1))
    kadath(machine, "down")


def test_the_json_result_has_the_published_keys(ran: Ran) -> None:
    """Scripts read this object; its keys are a promise."""
    assert list(ran.first) == [
        "run", "seed", "epochs", "champion", "published_best", "leaderboard_digest",
    ]  # fmt: skip
    assert list(ran.first["epochs"][0]) == ["epoch", "best", "median", "worst"]
    assert set(ran.first["champion"]) == {"path", "genome", "score"}


def test_equal_seeds_give_equal_leaderboards_and_genomes(ran: Ran) -> None:
    """Another seed gives others."""
    assert ran.first["leaderboard_digest"] == ran.same["leaderboard_digest"]
    assert ran.first["champion"]["genome"] == ran.same["champion"]["genome"]
    assert ran.first["leaderboard_digest"] != ran.other["leaderboard_digest"]


def test_the_best_never_falls(ran: Ran) -> None:
    """Elites are preserved exactly and score the same again."""
    best = [epoch["best"] for epoch in ran.first["epochs"]]
    assert best == sorted(best)


def test_the_champion_runs_without_kernel_or_model(ran: Ran) -> None:
    """run.py and score.py print the same number, which is what the champion really reaches."""
    folder = Path(ran.first["champion"]["path"])
    outputs = [
        subprocess.run(
            ["/usr/bin/python3", str(folder / name)],
            capture_output=True, text=True, check=True, cwd="/", env={"PATH": "/usr/bin"},
        ).stdout.split()[-1]
        for name in ("run.py", "score.py")
    ]  # fmt: skip
    assert outputs[0] == outputs[1]


def test_replay_rebuilds_and_decides_again_without_a_difference(ran: Ran) -> None:
    """A second, empty database gives the same digests; every decision gives the same bytes."""
    found = json.loads(kadath(ran.machine, "replay", ran.first["run"], "--json"))
    assert found["rebuild"]["equal"] and not found["rebuild"]["differing"]
    assert found["redecide"]["decided"] == found["redecide"]["matched"] > 100
    assert found["leaderboard_digest"] == ran.first["leaderboard_digest"]


def test_the_export_verifies_and_any_flipped_byte_is_found(ran: Ran, tmp_path: Path) -> None:
    """In the log, in a blob, in the champion, in the manifest."""
    export = Path(ran.first["champion"]["path"]).parent
    kadath(ran.machine, "verify", str(export))
    blob = next((export / "blobs").rglob("?" * 64))
    targets = ("events.jsonl", "export-manifest.json", "champion/solver.py")
    for name in (*targets, blob.relative_to(export).as_posix()):
        copy = tmp_path / "copy"
        shutil.copytree(export, copy)
        _flip(copy / name)
        kadath(ran.machine, "verify", str(copy), code=6)
        shutil.rmtree(copy)


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(content)


def test_a_second_export_goes_where_it_is_told(ran: Ran, tmp_path: Path) -> None:
    """Folders on the way are made; a folder that is there already is never written over."""
    target = tmp_path / "not" / "there" / "yet"
    told = kadath(ran.machine, "export", ran.first["run"], "--to", str(target))
    assert told.strip() == str(target)
    kadath(ran.machine, "verify", str(target))
    kadath(ran.machine, "export", ran.first["run"], "--to", str(target), code=1)


def test_an_external_subscriber_follows_a_live_run(ran: Ran, tmp_path: Path) -> None:
    """Twenty lines that know `schemas` and a NATS client, nothing else."""
    from kadath import home
    from kadath.cli.requests import Size
    from tests.support.machine import offline_model

    kernel = home.running_kernel(ran.machine.where)
    assert kernel is not None
    seed = tmp_path / "seed"
    seed.write_text(kernel.operator_seed)
    with offline_model() as url:
        size = Size(population=4, epochs=1)
        run = asyncio.run(ran.machine.request(url, "sorting_network", size))
        done = subprocess.run(
            [sys.executable, "docs/examples/follow.py", kernel.nats_url, str(seed), run],
            cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60,
            check=True,
        )  # fmt: skip
    assert "leaderboard.published" in done.stdout
    assert "run.completed" in done.stdout.splitlines()[-1]


def test_a_tape_gives_the_same_leaderboards_without_a_model(ran: Ran) -> None:
    """The whole run again, every model answer from the record; the model server is gone."""
    found = json.loads(kadath(ran.machine, "replay", ran.first["run"], "--tape", "--json"))
    assert found["tape"]["equal"]
    assert found["tape"]["leaderboard_digest"] == ran.first["leaderboard_digest"]
