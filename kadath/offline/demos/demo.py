"""A demo: a goal, the plain solver it starts from, and how an answer is measured."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kadath.offline.search.toolbox import Toolbox
from schemas.values.benchmark import Benchmark, Program, ProgramFile

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Demo:
    """Everything a run of a built-in demo needs."""

    name: str
    goal: str
    published_best: float
    higher_is_better: bool
    toolbox: Toolbox
    benchmark: Callable[[], Benchmark]

    @property
    def folder(self) -> Path:
        return HERE / self.name

    @property
    def starter(self) -> dict[str, str]:
        """Files of generation one by path; mutations leave harness.py alone."""
        return {name: _text(self.folder / "starter" / name) for name in ("solver.py", "harness.py")}

    @property
    def champion_files(self) -> dict[str, str]:
        """What a champion's directory needs besides its genome to run and score itself."""
        files = {name: _text(HERE / "champion" / name) for name in ("run.py", "score.py")}
        return files | {"measure.py": _text(self.folder / "measure.py")}


def program(name: str, description: str) -> Program:
    """The measuring program of a demo, its file inline."""
    text = _text(HERE / name / "measure.py")
    return Program(
        id="measure",
        description=description,
        files=(ProgramFile(path="measure.py", text=text),),
        argv=("python3", "measure.py"),
        timeout_seconds=30,
    )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
