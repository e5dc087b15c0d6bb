"""The process that holds litellm and the provider keys; started on the first call."""

import asyncio
import os
import sys
from pathlib import Path

from services.broker.core.answer import Tried
from services.broker.effects.provider import Provider
from services.kit.platform import Platform
from services.kit.supervisor import ChildFailed, Supervisor, Unit

ROOT = Path(__file__).parents[3]
START_SECONDS = 90.0
KEY_NAMES = ("_API_KEY", "_API_BASE", "_API_VERSION", "_PROJECT", "_LOCATION", "_REGION_NAME")


class Child:
    """A server on a Unix socket of ours; importing litellm takes seconds, so once."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._socket = platform.sockets / "provider.sock"
        self._provider = Provider(str(self._socket))
        self._supervisor = Supervisor()
        self._starting = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None

    async def send(self, body: bytes, seconds: float) -> Tried:
        try:
            await self._running()
        except ChildFailed as error:
            return Tried(trouble="connection", detail=str(error)[-400:])
        return await self._provider.send("http://provider/v1", body, {}, seconds)

    async def close(self) -> None:
        await self._provider.close()
        await self._supervisor.stop()

    async def _running(self) -> None:
        async with self._starting:
            if self._process is not None and self._process.returncode is None:
                return
            self._socket.unlink(missing_ok=True)
            self._process = await self._supervisor.start(self._unit())

    def _unit(self) -> Unit:
        async def ready() -> bool:
            return self._socket.exists()

        return Unit(
            name="provider",
            argv=[sys.executable, "-m", "services.broker.provider", str(self._socket)],
            ready=ready,
            log=self._platform.state / "provider.log",
            ready_seconds=START_SECONDS,
            env=_environment(),
        )


def _environment() -> dict[str, str]:
    """Provider settings of ours, by the names that providers use; never on a command line."""
    settings = {k: v for k, v in os.environ.items() if k.endswith(KEY_NAMES)}
    return settings | {
        "PYTHONPATH": str(ROOT),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
        "HOME": "/tmp",
    }
