"""Programs survive their own syntax tree, edits change them, solvers repeat to the bit."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kadath.offline.demos import DEMOS, Demo
from kadath.offline.search.draw import Draw
from kadath.offline.search.facts import facts_of
from kadath.offline.search.program import problem_of, read, write
from kadath.offline.search.proposals import Solver, adapted, child, unseen

SYSTEM_PYTHON = "/usr/bin/python3"


@pytest.fixture(params=sorted(DEMOS))
def demo(request: pytest.FixtureRequest) -> Demo:
    return DEMOS[request.param]


def program(demo: Demo, number: int) -> str:
    change = unseen(demo.toolbox, set(), Draw("test", number))
    assert change is not None
    return change.source


def solved(folder: Path, demo: Demo, source: str, python: str = sys.executable) -> bytes:
    for name, text in (demo.starter | {"solver.py": source}).items():
        (folder / name).write_text(text)
    command = [python, str(folder / "solver.py"), "--seed", "7"]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert done.stderr == b""
    return done.stdout


def measured(folder: Path, demo: Demo) -> dict:
    (folder / "measure.py").write_text(demo.champion_files["measure.py"])
    command = [sys.executable, str(folder / "measure.py"), str(folder)]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def test_a_program_written_and_read_is_the_same(demo: Demo) -> None:
    """The syntax tree loses nothing."""
    for number in range(20):
        source = program(demo, number)
        again = read(source)
        assert again is not None
        assert source == write(again, demo.toolbox)
        assert demo.name == problem_of(source)


def test_every_change_is_a_change(demo: Demo) -> None:
    """Children and adaptations differ from what they came from, and stay programs."""
    elites = [Solver(program(demo, k)) for k in (1, 2)]
    for number in range(30):
        own = Solver(program(demo, 100 + number))
        for make in (child, adapted):
            change = make(own, elites, demo.toolbox, set(), Draw(number))
            assert change is not None
            assert change.source != own.source
            assert read(change.source) is not None


def test_shares_spend_the_whole_budget(demo: Demo) -> None:
    """Equal work for every candidate, whoever made it."""
    for number in range(20):
        made = read(program(demo, number))
        assert made is not None
        assert abs(1.0 - sum(stage.share for stage in made.stages)) < 0.05


def test_a_strange_solver_is_replaced_by_the_starter(demo: Demo) -> None:
    """What is no program of ours cannot be edited, so its child starts anew."""
    change = child(Solver("import os\n"), [], demo.toolbox, set(), Draw(1))
    assert change is not None
    assert read(change.source) is not None


def test_odd_facts_are_no_facts() -> None:
    """Whatever a program reports about itself is read with care."""
    for odd in (None, [], {}, {"valid": True, "stages": [{"name": 3}, 5], "answer": [["x"]]}):
        assert facts_of(odd).answer == ()


@pytest.mark.skipif(not Path(SYSTEM_PYTHON).exists(), reason="no system Python here")
def test_a_solver_repeats_to_the_bit_on_another_interpreter(tmp_path: Path, demo: Demo) -> None:
    """Same source, same seed: same bytes, in this Python and the system's."""
    for number in range(3):
        source = program(demo, number)
        ours = solved(tmp_path, demo, source)
        assert ours == solved(tmp_path, demo, source, SYSTEM_PYTHON)


def test_starters_are_worth_what_the_benchmark_says(tmp_path: Path, demo: Demo) -> None:
    """Generation one is plain, valid and true to its claim."""
    (tmp_path / "candidate.json").write_bytes(solved(tmp_path, demo, demo.toolbox.starter))
    found = measured(tmp_path, demo)
    assert {"circle_packing": 2.333333, "sorting_network": 45}[demo.name] == found["value"]
    assert found["valid"] and found["claim_holds"]


def test_an_empty_attempt_is_invalid_and_worth_least(tmp_path: Path, demo: Demo) -> None:
    """No evidence, no value, but still one JSON object."""
    found = measured(tmp_path, demo)
    assert found["invalid"] and not found["valid"]
    assert {"circle_packing": 0, "sorting_network": 100}[demo.name] == found["value"]


@pytest.mark.parametrize(
    ("name", "answer", "why"),
    [
        ("circle_packing", [[0.5, 0.5, 0.5]] * 26, "overlap"),
        ("circle_packing", [[0.5, 0.5, 0.6]] * 26, "leaves the square"),
        ("circle_packing", [[0.5, 0.5, "big"]] * 26, "triples"),
        ("circle_packing", [[0.1, 0.1, 1e308]] * 26, "triples"),
        ("circle_packing", None, "triples"),
        ("sorting_network", [[0, 1]], "not sorted"),
        ("sorting_network", [[1, 0]], "low wire"),
        ("sorting_network", [[0, 1.0]], "whole numbers"),
        ("sorting_network", [[0, 1]] * 101, "at most"),
    ],
)
def test_invalid_answers_are_found_out(tmp_path: Path, name: str, answer: object, why: str) -> None:
    """The reason is named."""
    (tmp_path / "candidate.json").write_text(json.dumps({"answer": answer, "value": 9}))
    found = measured(tmp_path, DEMOS[name])
    assert found["invalid"] and why in found["reason"]


def test_a_false_claim_is_found_out(tmp_path: Path) -> None:
    """The claimed value is held against the measured one."""
    demo = DEMOS["circle_packing"]
    candidate = json.loads(solved(tmp_path, demo, demo.toolbox.starter)) | {"value": 2.6}
    (tmp_path / "candidate.json").write_text(json.dumps(candidate))
    assert measured(tmp_path, demo)["claim_holds"] is False


def test_a_champion_runs_and_scores_itself_alike(tmp_path: Path, demo: Demo) -> None:
    """run.py and score.py print the same six digits."""
    for name, text in (demo.champion_files | demo.starter).items():
        (tmp_path / name).write_text(text)
    (tmp_path / "solver.py").write_text(program(demo, 3))
    (tmp_path / "champion.json").write_text('{"seed": 7}')
    ran, scored = (
        subprocess.run([sys.executable, str(tmp_path / name)], capture_output=True, check=True)
        for name in ("run.py", "score.py")
    )
    assert ran.stdout == scored.stdout
