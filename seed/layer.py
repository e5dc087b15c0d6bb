"""Prepares what a sandbox mounts read-only beside a genome: its Python layer and its bytecode.

Kernel side, standard library only. The interpreter of a sandbox is Debian's /usr/bin/python3.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FRAMEWORK = ROOT / "seed" / "framework"
LOCK = ROOT / "deploy" / "locks" / "organism.txt"

INTERPRETER = "/usr/bin/python3"
# Debian starts one module of its dist-packages in every interpreter, through a .pth file.
STDLIB = (Path("/usr/lib/python3.11"), Path("/usr/lib/python3/dist-packages/_distutils_hack"))
TAG = "cpython-311"
UNUSED = frozenset(
    {"__pycache__", "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3"}
)
COMPILE_SECONDS = 60

# Source may come from a genome: compiling it must end, and must not eat the machine.
COMPILER = """
import resource, sys, compileall
resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
mode = compileall.py_compile.PycInvalidationMode.UNCHECKED_HASH
for path in sys.stdin.buffer.read().decode().split("\\0"):
    compileall.compile_file(path, quiet=2, force=True, stripdir=sys.argv[1], prependdir=sys.argv[2],
                            invalidation_mode=mode)
"""


def build_layer(target: Path, lock: Path = LOCK) -> Path:
    """Install the locked wheels, hashes checked, for the sandbox's interpreter; all or nothing."""
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as staging:
        layer = Path(staging) / "layer"
        layer.mkdir()
        if _requires_anything(lock):
            _install(lock, layer)
        layer.chmod(0o755)
        layer.rename(target)
    return target


def compile_tree(
    tree: Path,
    out: Path,
    mounted: str = "/genome",
    cache: Path | None = None,
    user: tuple[int, int] | None = None,
) -> Path:
    """Bytecode of `tree`, as seen at `mounted`, below `out`: mount `out` at PYTHONPYCACHEPREFIX.

    The prefix hides the standard library's own bytecode, so that is linked in as well. A file that
    does not compile has none, and says so when it is imported. With a `cache`, equal files of other
    trees are not compiled again. With a `user`, uid and gid, the compiler runs as that user.
    """
    tree = tree.resolve()
    sources = sorted(_sources(tree))
    keys = {path: _key(path, tree, mounted) for path in sources}
    missing = [path for path in sources if cache is None or not (cache / keys[path]).is_file()]
    with tempfile.TemporaryDirectory(prefix="kadath-pyc-") as scratch:
        if user is not None:
            os.chown(scratch, *user)
        _compile(missing, tree, mounted, Path(scratch), user)
        for path in sources:
            made = Path(scratch) / _pyc(path.relative_to("/"))
            kept = _kept(made, cache, keys[path])
            if kept is not None:
                _place(kept, out / mounted.lstrip("/") / _pyc(path.relative_to(tree)))
    link_stdlib(out)
    return out


def link_stdlib(out: Path) -> None:
    """Link the interpreter's own bytecode to where a prefix makes it look."""
    for folder, folders, _ in (entry for root in STDLIB for entry in os.walk(root)):
        made = sorted(Path(folder, "__pycache__").glob(f"*.{TAG}.pyc"))
        folders[:] = [name for name in folders if name not in UNUSED]
        place = out / Path(folder).relative_to("/")
        if made:
            place.mkdir(parents=True, exist_ok=True)
        for pyc in made:
            link = place / pyc.name
            if not link.is_symlink():
                link.symlink_to(pyc)


def _requires_anything(lock: Path) -> bool:
    lines = lock.read_text(encoding="utf-8").splitlines()
    return any(line.strip() and not line.lstrip().startswith("#") for line in lines)


def _install(lock: Path, target: Path) -> None:
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--require-hashes",
            "--only-binary=:all:",
            "--implementation=cp",
            "--python-version=3.11",
            "--no-compile",
            "--target",
            str(target),
            "--requirement",
            str(lock),
        ],
        check=True,
    )


def _sources(tree: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if name not in ("__pycache__", ".git")]
        for name in names:
            path = Path(folder, name)
            if name.endswith(".py") and path.is_file() and not path.is_symlink():
                yield path


def _key(path: Path, tree: Path, mounted: str) -> str:
    """Bytecode depends on the text and on the name that it will carry in tracebacks."""
    name = f"{TAG}\0{mounted}/{path.relative_to(tree)}\0".encode()
    return hashlib.sha256(name + path.read_bytes()).hexdigest()


def _compile(
    paths: list[Path], tree: Path, mounted: str, prefix: Path, user: tuple[int, int] | None
) -> None:
    if not paths:
        return
    uid, gid = user or (None, None)
    subprocess.run(
        [
            INTERPRETER,
            "-I",
            "-S",
            "-X",
            f"pycache_prefix={prefix}",
            "-c",
            COMPILER,
            str(tree),
            mounted,
        ],
        input="\0".join(map(str, paths)).encode(),
        env={"LANG": "C.UTF-8"},
        cwd="/",
        user=uid,
        group=gid,
        extra_groups=[] if user else None,
        timeout=COMPILE_SECONDS,
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _pyc(path: Path) -> Path:
    return path.with_name(f"{path.stem}.{TAG}.pyc")


def _kept(made: Path, cache: Path | None, key: str) -> Path | None:
    is_made = made.is_file() and not made.is_symlink()
    if cache is None:
        return made if is_made else None
    kept = cache / key
    if is_made and not kept.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        temporary = cache / f".{key}.{os.getpid()}"
        shutil.copyfile(made, temporary)
        temporary.rename(kept)
    return kept if kept.is_file() else None


def _place(pyc: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(pyc, target)
    target.chmod(0o644)
