"""Containers come ahead of their attempts, are used once, and never stay behind."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from services.sandbox.docker import DockerContainers, probing
from services.sandbox.docker.backend import KINDS
from services.sandbox.port import Spec
from tests.support import daemon
from tests.support.loop import go

CLOCK = "import time; print(time.time())"
KERNEL = """
import asyncio, sys, time
from pathlib import Path
from schemas.values.runtime import Limits
from services.sandbox.docker import DockerContainers
from services.sandbox.port import Spec
home, scope = Path(sys.argv[1]), sys.argv[2]
backend = DockerContainers(home / "slots", home / "doors", scope=scope)
def spec(name):
    argv = ("/usr/bin/python3", "-c", "import time; open('begun', 'w'); time.sleep(600)")
    return Spec(name=name, run="r1", argv=argv, limits=Limits(), finalize_at=time.time() + 600,
                deadline_at=time.time() + 600, spool=home / name)
async def main():
    await backend.probe()
    work = [asyncio.create_task(backend.run(spec(name))) for name in ("a1", "a2")]
    while len(backend._running) < 2: await asyncio.sleep(.05)
    print("begun", flush=True)
    await asyncio.gather(*work)
asyncio.run(main())
"""


@pytest.fixture
def own(home: Path, docker: DockerContainers) -> DockerContainers:
    """A backend whose scope holds this test's attempts only."""
    return DockerContainers(home / "slots", home / "doors", scope=home.name)


def test_a_warm_container_starts_at_once(own: DockerContainers, spec: Callable[..., Spec]):
    """Under 150 ms at the median from the call to the organism's first statement."""

    async def scene() -> list[float]:
        await own.probe()
        await own.run(spec(CLOCK))
        took = []
        for _ in range(7):
            await asyncio.sleep(0.7)  # the next one comes up meanwhile
            began = time.time()
            took.append(float((await own.run(spec(CLOCK))).stdout) - began)
        await own.close()
        return took

    assert median(go(scene())) < 0.15


def test_a_container_serves_one_attempt(own: DockerContainers, spec: Callable[..., Spec]):
    """What one leaves in its /tmp and /dev/shm, no other finds; all are gone at the end."""

    async def scene() -> list[bytes]:
        code = (
            "import os; print(os.listdir('/tmp'), os.listdir('/dev/shm'), os.listdir('/state'))\n"
            "for place in ('/tmp/x', '/dev/shm/x', '/state/x'): open(place, 'w')"
        )
        found = [(await own.run(spec(code))).stdout for _ in range(3)]
        await own.close()
        return found

    assert go(scene()) == [b"[] [] []\n"] * 3
    assert daemon.containers(own._scope, "-a") == []
    assert list((own._root / "slots").iterdir()) == []
    assert list(own._sockets.iterdir()) == []


def test_nothing_waits_for_kinds_of_long_ago(own: DockerContainers, spec: Callable[..., Spec]):
    """Limits differ from run to run; each kind's containers leave when enough newer ones came."""

    async def scene() -> int:
        await own.probe()
        for number in range(KINDS + 3):
            await own.run(spec(CLOCK, limits={"memory_mb": 128 + number}))
        await asyncio.sleep(2)
        waiting = len(daemon.containers(own._scope))
        await own.close()
        return waiting

    assert 1 <= go(scene()) <= KINDS
    assert not daemon.containers(own._scope, "-a")


def test_kill_9_of_the_kernel_is_swept_by_the_next(own: DockerContainers, home: Path):
    """Named by run and attempt; those to be kept are spared, strangers too."""
    scope = home.name
    kernel = subprocess.Popen(
        [sys.executable, "-c", KERNEL, str(home), scope],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )
    assert kernel.stdout is not None
    assert kernel.stdout.readline() == b"begun\n"
    kernel.kill()
    kernel.wait()
    deadline = time.monotonic() + 10  # a pilot whose kernel is gone ends by itself
    while daemon.containers(scope) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert daemon.containers(scope) == []
    stranger = DockerContainers(home / "other", home / "others", scope="another")
    go(stranger.sweep(None, set()))
    assert {f"{scope}.r1.a1", f"{scope}.r1.a2"} <= set(daemon.containers(scope, "-a"))
    assert go(own.sweep("r1", {"a2"})) == 1
    assert f"{scope}.r1.a2" in daemon.containers(scope, "-a")
    go(own.sweep(None, set()))
    assert daemon.containers(scope, "-a") == []
    go(own.close())
    go(stranger.close())


def test_a_missing_image_and_a_missing_daemon_are_named(home: Path, monkeypatch):
    """With what to do about it; nothing runs then."""
    if reason := daemon.trouble():
        pytest.skip(reason)
    lost = DockerContainers(home / "a", home / "b", image="kadath-organism:nothing")
    found = go(lost.probe())
    assert (found.ok, "deploy/docker/build.sh" in found.install_hint) == (False, True)
    go(lost.close())
    monkeypatch.setenv("DOCKER_HOST", f"unix://{home}/no.sock")
    gone = DockerContainers(home / "a", home / "b")
    found = go(gone.probe())
    assert (found.ok, "no Docker daemon answers" in found.reason) == (False, True)
    go(gone.close())


def test_the_tag_is_the_recipe_s(docker: DockerContainers):
    """The script and the backend agree, and the digest is known."""
    built = subprocess.run([daemon.BUILD], capture_output=True, text=True, check=True)
    assert built.stdout.strip() == probing.tag()
    assert docker.digest.startswith("sha256:")
