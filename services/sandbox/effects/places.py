"""Read-only folders that sandboxes mount: genomes, their bytecode, programs, evidence, states."""

import asyncio
from pathlib import Path

from schemas import canonical, digest
from schemas.values.benchmark import Program
from schemas.values.tree import Tree, TreeFile
from seed import layer
from services.kit import trees
from services.kit.blobs import Blobs


class Places:
    """Laid out once per content hash below the cache; a lock per hash. Compiled by `user`."""

    def __init__(self, blobs: Blobs, cache: Path, user: tuple[int, int] | None) -> None:
        self._user = user
        self._blobs = blobs
        self._cache = cache
        self._locks: dict[str, asyncio.Lock] = {}
        self._python: dict[str, str] = {}
        for name in ("trees", "pyc", "pyc-parts", "states", "programs", "evidence"):
            (cache / name).mkdir(parents=True, exist_ok=True, mode=0o755)

    async def genome(self, tree: str) -> tuple[Path, Path]:
        """The genome's files and its bytecode, compiled once per set of Python files."""
        async with self._lock(f"genome/{tree}"):
            folder = self._cache / "trees" / tree
            if not folder.exists():
                await asyncio.to_thread(trees.lay_out, self._blobs, tree, self._cache / "trees")
        return folder, await self._bytecode(tree, folder)

    async def _bytecode(self, tree: str, folder: Path) -> Path:
        if tree not in self._python:
            self._python[tree] = python_key(trees.get_tree(self._blobs, tree))
        key = self._python[tree]
        async with self._lock(f"pyc/{key}"):
            out = self._cache / "pyc" / key
            if not out.exists():
                parts = self._cache / "pyc-parts"
                await asyncio.to_thread(
                    layer.compile_tree, folder, out, "/genome", parts, self._user
                )
        return out

    async def layer(self) -> Path:
        """The organism's Python layer, keyed by its lock file."""
        key = layer_sha()
        async with self._lock("layer"):
            out = self._cache / "layer" / key
            if not out.exists():
                out.parent.mkdir(exist_ok=True, mode=0o755)
                await asyncio.to_thread(layer.build_layer, out)
        return out

    async def program(self, program: Program) -> Path:
        if program.tree is not None:
            return await asyncio.to_thread(
                trees.lay_out, self._blobs, program.tree.sha256, self._cache / "programs"
            )
        contents = {file.path: file.text.encode() for file in program.files}
        ref, _ = await trees.put_files(self._blobs, contents)
        return trees.lay_out(self._blobs, ref.sha256, self._cache / "programs")

    async def evidence(self, manifest: str, cumulative: bool) -> Path:
        """Only what the attempt made, unless the benchmark is cumulative."""
        tree = trees.get_tree(self._blobs, manifest)
        files = tuple(f for f in tree.files if cumulative or f.mark != "inherited")
        ref = await trees.put_tree(self._blobs, Tree(files=files))
        return trees.lay_out(self._blobs, ref.sha256, self._cache / "evidence")

    def state(self, tree: str | None) -> Path | None:
        """An inherited state; None is the empty one."""
        if tree is None:
            return None
        return trees.lay_out(self._blobs, tree, self._cache / "states")

    def _lock(self, key: str) -> asyncio.Lock:
        return self._locks.setdefault(key, asyncio.Lock())


def python_key(tree: Tree) -> str:
    """Genomes that differ in a prompt only share their bytecode."""
    sources: list[TreeFile] = [f for f in tree.files if f.path.endswith(".py")]
    return digest(canonical([[f.path, f.sha256] for f in sources]))


def layer_sha() -> str:
    return digest(layer.LOCK.read_bytes())
