"""A kernel as its own process tree and the offline model beside it, for tests that kill."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from kadath import home
from kadath.cli.client import Session, session
from kadath.cli.requests import Size, demo_request
from kadath.home import Home
from kadath.offline.demos import DEMOS
from schemas import ids
from schemas.commands.run import RequestRun
from services.kit import edges, trees
from tests.support import daemon

ROOT = Path(__file__).parent.parent.parent


@contextlib.contextmanager
def offline_model(*arguments: str) -> Iterator[str]:
    """The offline model over HTTP, alive whatever happens to the kernel."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kadath.offline", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdout is not None
    try:
        yield str(json.loads(process.stdout.readline())["url"])
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def stats(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as response:
        found: dict[str, Any] = json.loads(response.read())
    return found


class Machine:
    """One home whose kernel can be started, killed and started again."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.where: Home = home.find(folder / ".kadath")
        self._environment = environment
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        home.prepare(self.where)
        with open(self.where.folder / "kernel.log", "ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "kadath", "--home", str(self.where.folder), "up"],
                cwd=ROOT,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": str(ROOT), **self._environment},
            )
        deadline = time.monotonic() + 60
        while home.running_kernel(self.where) is None:
            assert self.process.poll() is None, self.log()
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.02)

    def kill(self) -> None:
        """SIGKILL to the kernel; its children hold a death signal."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=40)

    def log(self) -> str:
        return (self.where.folder / "kernel.log").read_text()[-4000:]

    async def request(self, url: str, goal: str, size: Size, seed: int = 0, **changes: Any) -> str:
        """Ask for a demo run and return its id."""
        found = DEMOS[goal]
        async with session(self.where) as client:
            contents = {path: text.encode() for path, text in found.starter.items()}
            files, _ = await trees.put_files(client.blobs, contents)
            request = demo_request(found.goal, goal, url, files, "default", seed, size)
            run = ids.run_id(edges.now(), edges.random_bytes(3))
            command = RequestRun(
                run=run, command=edges.uuid7(), request=request.model_copy(update=changes)
            )
            await client.send("scheduler", command)
        return run

    @contextlib.asynccontextmanager
    async def client(self) -> AsyncIterator[Session]:
        async with session(self.where) as found:
            yield found

    def leftovers(self) -> list[str]:
        """Processes, mounts, sockets and containers that belong to this home."""
        mark = self.where.sockets.name
        found = [f"process {pid}" for pid in _processes(mark)]
        mounts = Path("/proc/mounts").read_text().splitlines()
        found += [f"mount {line}" for line in mounts if mark in line]
        if self.where.sockets.exists():
            found += [f"socket {p}" for p in self.where.sockets.rglob("*") if p.is_socket()]
        if daemon.answers():  # without a daemon there are no containers
            found += [f"container {name}" for name in daemon.containers(mark, "-a")]
        return found


def _processes(mark: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            if mark.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


async def until_settled(machine: Machine, run: str, seconds: float = 240) -> Any:
    """Follow the run to its end or pause."""
    from kadath.cli import watching

    async with machine.client() as client:
        return await asyncio.wait_for(watching.watch(client, run), timeout=seconds)
