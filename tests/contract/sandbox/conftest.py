"""A backend on real bubblewrap, and short ways to describe an attempt."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from schemas.values.runtime import Limits
from services.sandbox.docker import DockerContainers
from services.sandbox.local import LocalContainers
from services.sandbox.port import Containers, Outcome, Spec
from tests.support import daemon
from tests.support.loop import go

LIMITS = Limits(memory_mb=512, pids=64, file_mb=64, state_mb=32, state_inodes=8192, log_kb=64)
PYTHON = ("/usr/bin/python3", "-I", "-S", "-u", "-c")


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that the sandbox user can reach: pytest's own is for its user alone."""
    path = Path(tempfile.mkdtemp(prefix="kadath-sandbox-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def home() -> Iterator[Path]:
    with folder() as path:
        yield path


@pytest.fixture(scope="session")
def shared() -> Iterator[Path]:
    with folder() as path:
        yield path


@pytest.fixture(scope="session")
def local(shared: Path) -> LocalContainers:
    """Skips where this machine cannot run a sandbox, and says why."""
    backend = LocalContainers(shared / "backend", scope=shared.name)
    probe = go(backend.probe())
    if not probe.ok:
        pytest.skip(f"no sandbox here: {probe.reason} {probe.install_hint}")
    return backend


@pytest.fixture(scope="session")
def docker(shared: Path) -> Iterator[DockerContainers]:
    """On a real daemon, which is installed and started where that is possible."""
    if reason := daemon.trouble():
        pytest.skip(reason)
    backend = DockerContainers(shared / "docker", shared / "doors", scope=shared.name)
    probe = go(backend.probe())
    assert probe.ok, f"{probe.reason} {probe.install_hint}"
    yield backend
    go(backend.close())


@pytest.fixture(params=["local", "docker"])
def containers(request: pytest.FixtureRequest) -> Containers:
    """One contract, two backends."""
    return request.getfixturevalue(request.param)  # type: ignore[no-any-return]


@pytest.fixture
def spec(home: Path) -> Callable[..., Spec]:
    """A spec of one Python program; keywords replace its parts, `limits` those of LIMITS."""

    def build(code: str = "pass", seconds: float = 20.0, **changes: Any) -> Spec:
        now = time.time()
        limits = LIMITS.model_copy(update=changes.pop("limits", {}))
        parts: dict[str, Any] = {"name": "a0001", "run": "r1", "argv": (*PYTHON, code)}
        parts |= {"finalize_at": now + seconds - 0.5, "deadline_at": now + seconds}
        return Spec(**parts | {"limits": limits, "spool": home / "spool"} | changes)

    return build


@pytest.fixture
def attempt(containers: Containers, spec: Callable[..., Spec]) -> Callable[..., Outcome]:
    """Runs one program to its end."""

    def run(code: str = "pass", **changes: Any) -> Outcome:
        return go(containers.run(spec(code, **changes)))

    return run


@pytest.fixture
def inherited(home: Path, local: LocalContainers) -> Path:
    """A state from an earlier attempt, owned by the sandbox user."""
    folder = home / "inherited"
    for path in ("kept", "changed", "gone", "folder/one", "folder/two", "was_folder/x", "was_file"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"old {path}")
    local.own(folder)
    return folder
