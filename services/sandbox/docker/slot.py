"""One container: made ahead of its attempt, used once, gone afterwards."""

import asyncio
import contextlib
import os
import shutil
from pathlib import Path
from typing import Any

import aiodocker
from aiodocker.containers import DockerContainer

from services.sandbox.docker import config, filling
from services.sandbox.docker.config import Kind, Places

READY_SECONDS = 30.0


class SlotFailed(RuntimeError):
    """The daemon refused, or the container did not come up; the message says why."""


class Slot:
    """Its folders, its door and its container. `reader` and `writer` lead to the pilot."""

    def __init__(self, docker: aiodocker.Docker, places: Places, kind: Kind) -> None:
        self._docker = docker
        self.places = places
        self.kind = kind
        self._container: DockerContainer | None = None
        self._server: asyncio.Server | None = None
        self._arrived: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.reader: asyncio.StreamReader
        self.writer: asyncio.StreamWriter | None = None

    async def start(self, image: str, scope: str) -> None:
        """Bring the container up until its pilot waits at the door. Raises `SlotFailed`."""
        try:
            self._make_folders()
            await self._listen()
            body = config.container(image, self.kind, scope, self.places)
            self._container = await self._docker.containers.create(body)
            await self._container.start()
            await asyncio.wait_for(self._arrived, READY_SECONDS)
        except (aiodocker.DockerError, OSError, TimeoutError) as error:
            said = await self.log()
            await self.remove()
            raise SlotFailed(f"{type(error).__name__}: {error} {said}".strip()) from error
        assert self._server is not None
        self._server.close()  # nobody else may come in
        (self.places.doors / "pilot" / "pilot.sock").unlink(missing_ok=True)

    def _make_folders(self) -> None:
        for name in config.TARGETS:
            (self.places.content / name).mkdir(parents=True, mode=0o755)
        for name in ("pilot", "broker"):
            (self.places.doors / name).mkdir(parents=True, mode=0o755)

    async def _listen(self) -> None:
        path = self.places.doors / "pilot" / "pilot.sock"
        self._server = await asyncio.start_unix_server(self._welcome, path, limit=1 << 20)
        os.chmod(path, 0o666)

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.writer is not None or await reader.readline() != b"ready\n":
            writer.close()
            return
        self.reader, self.writer = reader, writer
        if not self._arrived.done():
            self._arrived.set_result(None)

    def let_in(self, broker: Path) -> None:
        """Give the container the attempt's own socket: a link leads to the same door."""
        for entry in broker.iterdir():
            os.link(entry, self.places.doors / "broker" / entry.name)

    def fill(self, source: Path, target: str) -> None:
        filling.place(source, self.places.content / target.lstrip("/"))

    async def name(self, name: str) -> None:
        """Show in the daemon's list whose container this is now."""
        if self._container is not None:
            await self._container.rename(name)

    async def state(self) -> dict[str, Any]:
        """How the container ended, as the daemon tells it."""
        assert self._container is not None
        await self._container.wait(timeout=10)
        return dict((await self._container.show())["State"])

    async def log(self) -> str:
        """The pilot's own last words."""
        if self._container is None:
            return ""
        with contextlib.suppress(aiodocker.DockerError):
            lines = await self._container.log(stdout=True, stderr=True)
            return "".join(lines)[-1000:].strip()
        return ""

    async def kill(self) -> None:
        if self._container is not None:
            with contextlib.suppress(aiodocker.DockerError):
                await self._container.kill()

    async def remove(self) -> None:
        """The container and every trace of it on the host."""
        if self.writer is not None:
            self.writer.close()
        if self._server is not None:
            self._server.close()
        if self._container is not None:
            with contextlib.suppress(aiodocker.DockerError):
                await self._container.delete(force=True, v=True)
        for folder in self.places:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
