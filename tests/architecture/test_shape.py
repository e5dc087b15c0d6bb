"""The folder tree is the architecture: what import rules cannot say."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
KIT = sorted((ROOT / "services" / "kit").glob("*.py"))
CORES = sorted((ROOT / "services").glob("*/core/*.py"))
DOMAIN = re.compile(r"\b(epoch|genome|score|leaderboard|cohort|benchmark|organism)s?\b", re.I)
IMPURE = re.compile(
    r"\b(datetime\.now|time\.time|uuid4|random\.|os\.environ|os\.getenv|open\(|asyncio\.)"
)


def own_files() -> list[Path]:
    """Python that we wrote: everything but the vendored framework."""
    folders = ("schemas", "services", "kadath", "seed")
    return [
        path
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "smolagents" not in path.parts
    ]


def test_kit_stays_within_its_budget() -> None:
    """Machinery that grows without bound is a second product."""
    lines = sum(len(path.read_text().splitlines()) for path in KIT)
    assert lines <= 2500


@pytest.mark.parametrize("path", KIT, ids=lambda path: path.name)
def test_kit_knows_no_word_of_the_domain(path: Path) -> None:
    """`epoch` is a field of the envelope and nothing more."""
    words = {word.lower() for word in DOMAIN.findall(path.read_text())}
    assert words <= {"epoch"}


@pytest.mark.parametrize("path", CORES, ids=lambda path: f"{path.parent.parent.name}/{path.name}")
def test_a_core_has_no_clock_no_chance_and_no_environment(path: Path) -> None:
    """A decision must come out the same when an auditor asks again."""
    code = "\n".join(line.partition("#")[0] for line in path.read_text().splitlines())
    assert IMPURE.findall(code) == []


def test_no_file_is_longer_than_400_lines() -> None:
    """One concept a file."""
    long = {p.name: n for p in own_files() if (n := len(p.read_text().splitlines())) > 400}
    assert long == {}


def test_no_function_is_longer_than_60_lines() -> None:
    """Most have 5 to 15; a table of options of a command may be longer."""
    found = {
        f"{path.relative_to(ROOT)}:{node.name}": size
        for path in own_files()
        if "cli" not in path.parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (size := (node.end_lineno or 0) - node.lineno) > 60
    }
    assert found == {}


def test_every_service_says_what_it_consumes_and_produces() -> None:
    """A README beside each service.py."""
    services = [
        path.parent
        for path in (ROOT / "services").glob("*/service.py")
        if path.parent.name != "kit"
    ]
    assert len(services) == 7
    assert [s.name for s in services if not (s / "README.md").exists()] == []


def test_no_registry_host_and_no_path_of_this_machine_is_written_anywhere() -> None:
    """The project works elsewhere too."""
    import subprocess

    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    bad = re.compile(r"/work/(main|shared)|files\.pythonhosted|pypi\.org/simple|--index-url http")
    found = [
        name
        for name in tracked
        if not name.endswith((".png", ".gz"))
        and name != "tests/architecture/test_shape.py"
        and bad.search((ROOT / name).read_text(errors="replace"))
    ]
    assert found == []
