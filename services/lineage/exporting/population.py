"""The final population as runnable directories, and how each genome differs from its origins."""

import os
import shutil
from pathlib import Path

from services.kit.blobs import Blobs
from services.kit.trees import get_tree
from services.lineage import files
from services.lineage.core.view import View


def write_population(folder: Path, blobs: Blobs, view: View) -> None:
    """`final-population/<agent>/` and `framework-diffs/<agent>.{parent,seed}.diff`."""
    for agent, genome in sorted(view.population.items()):
        if genome in view.genomes:
            _lay_out(folder, blobs, view.genomes[genome].files.sha256, agent)
            _compare(folder, blobs, view, agent, genome)


def _lay_out(folder: Path, blobs: Blobs, tree_sha: str, agent: str) -> None:
    """Links to the export's own blobs: a thousand agents cost one set of vendored files."""
    for file in get_tree(blobs, tree_sha).files:
        target = folder / "final-population" / agent / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        source = folder / "blobs" / file.sha256
        if file.executable:
            shutil.copyfile(source, target)
            target.chmod(0o755)
        else:
            os.link(source, target)


def _compare(folder: Path, blobs: Blobs, view: View, agent: str, genome: str) -> None:
    assert view.base is not None
    parent = view.genomes.get(view.committed[genome].parent or "")
    origins = {"seed": view.base.tree, "parent": parent.files.sha256 if parent else view.base.tree}
    target = folder / "framework-diffs"
    target.mkdir(exist_ok=True)
    for name, tree_sha in origins.items():
        changes = files.diff(blobs, tree_sha, view.genomes[genome].files.sha256)
        text = "".join(change["diff"] for change in changes)
        (target / f"{agent}.{name}.diff").write_text(text, encoding="utf-8")
