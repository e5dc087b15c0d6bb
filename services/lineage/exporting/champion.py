"""The champion as a directory that runs by itself: genome, `run.py`, `score.py`, what they need."""

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from schemas.values.benchmark import Benchmark
from services.kit.blobs import Blobs
from services.kit.trees import get_tree
from services.lineage.core.champion import Winner, winner
from services.lineage.core.view import View

STARTER_PREFIX = ".champion/"
GENERIC = Path(__file__).parent / "champion_files"


def write_champion(blobs: Blobs, view: View, folder: Path) -> Winner | None:
    """Write the champion of a run below `folder`; None when there is none yet."""
    best = winner(view)
    if best is None or best.genome not in view.genomes:
        return None
    write_tree(blobs, view.genomes[best.genome].files.sha256, folder)
    shipped = _shipped(blobs, view)
    _write(folder, shipped or _generic(blobs, view))
    if best.agent in view.candidates:
        target = folder / "recorded-candidate.json"
        target.write_bytes(blobs.get(view.candidates[best.agent]))
    facts = {**best._asdict(), "run": view.run, "seed": view.seeds.get(best.agent, 0)}
    (folder / "champion.json").write_text(json.dumps(facts, indent=2, sort_keys=True) + "\n")
    return best


def write_tree(blobs: Blobs, tree_sha: str, folder: Path) -> None:
    """Every file of a tree, as ordinary files."""
    for file in get_tree(blobs, tree_sha).files:
        target = folder / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(blobs.read(file.sha256))
        if file.executable:
            target.chmod(0o755)


def _shipped(blobs: Blobs, view: View) -> dict[str, bytes]:
    """What the starter tree brought for this purpose, below its own prefix."""
    if view.requested is None or view.requested.starter is None:
        return {}
    return {
        file.path.removeprefix(STARTER_PREFIX): blobs.read(file.sha256)
        for file in get_tree(blobs, view.requested.starter.sha256).files
        if file.path.startswith(STARTER_PREFIX)
    }


def _generic(blobs: Blobs, view: View) -> dict[str, bytes]:
    """A `run.py` that says how to start it, a `score.py` that runs the benchmark's programs."""
    files = {path.name: path.read_bytes() for path in sorted(GENERIC.glob("*.py"))}
    content = blobs.get(view.locked.benchmark) if view.locked else b"{}"
    goal = view.requested.goal if view.requested else ""
    facts = {"benchmark.json": content, "goal.txt": goal.encode()}
    return {**files, **facts, **_programs(blobs, content)}


def _programs(blobs: Blobs, content: bytes) -> dict[str, bytes]:
    try:
        benchmark = Benchmark.model_validate_json(content)
    except ValidationError:
        return {}
    found: dict[str, bytes] = {}
    for program in benchmark.programs:
        inline = {file.path: file.text.encode() for file in program.files}
        if program.tree is not None:
            tree = get_tree(blobs, program.tree.sha256)
            inline |= {file.path: blobs.read(file.sha256) for file in tree.files}
        found |= {f"programs/{program.id}/{path}": text for path, text in inline.items()}
    return found


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        target = folder / path
        if not target.resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"{path} leaves the champion's folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
