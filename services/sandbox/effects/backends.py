"""The backends of this machine, each made when a run first asks for it."""

from pathlib import Path
from typing import NamedTuple

from schemas import canonical, digest
from services.sandbox.docker import DockerContainers
from services.sandbox.effects.places import layer_sha
from services.sandbox.local import LocalContainers

Backend = LocalContainers | DockerContainers


class Ground(NamedTuple):
    """Where backends may work: `sockets` is short, and its name tells this kernel's attempts from
    another's. `user` is None where the kernel itself is an ordinary user."""

    cache: Path
    sockets: Path
    user: tuple[int, int] | None
    slots: int


class Backends:
    """By the name of a run's executor: `local` or `docker`."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._made: dict[str, Backend] = {}

    def of(self, executor: str) -> Backend:
        if executor not in self._made:
            self._made[executor] = self._docker() if executor == "docker" else self._local()
        return self._made[executor]

    def _local(self) -> LocalContainers:
        cache, sockets, user, _ = self._ground
        return LocalContainers(cache / "sandbox", scope=sockets.name, user=user)

    def _docker(self) -> DockerContainers:
        cache, sockets, _, slots = self._ground
        return DockerContainers(cache / "containers", sockets / "d", scope=sockets.name, warm=slots)

    async def sweep(self) -> None:
        """What an earlier kernel left: of both, whichever it used."""
        await self.of("local").sweep(None, set())
        if docker_is_near():
            await self.of("docker").sweep(None, set())

    async def close(self) -> None:
        for backend in self._made.values():
            if isinstance(backend, DockerContainers):
                await backend.close()
            else:
                await backend.sweep(None, set())


def docker_is_near() -> bool:
    """A daemon that was never there has nothing to sweep, and is not worth an attempt."""
    return Path("/var/run/docker.sock").exists()


def layer_of(backend: Backend) -> str:
    """The identity of what lies below a genome: the layer's lock, and the image where there is one.

    Part of the runtime's lock: another image is another runtime.
    """
    if isinstance(backend, DockerContainers):
        return digest(canonical([layer_sha(), backend.digest]))
    return layer_sha()
