"""The sockets of attempts: one each, opened before the start, closed at the end."""

import hmac
import os
import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from aiohttp import web

from schemas.commands.complete import TokenFor
from services.broker.core.view import Grant
from services.kit import edges

LONGEST_PATH = 107


class Asking(NamedTuple):
    """A question under way, or one whose client went away before it had the answer."""

    number: int
    request: web.Request

    def gone(self) -> bool:
        return self.request.transport is None or self.request.transport.is_closing()


@dataclass
class Door:
    """An open socket. `calls` counts the answered questions since this start."""

    run: str
    grant: Grant
    caller: str
    purpose: str
    token: bytes
    expires_at: float
    folder: Path
    site: web.UnixSite | None = None
    in_flight: int = 0
    calls: int = 0
    asking: dict[str, "Asking"] = field(default_factory=dict)
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)

    def expired(self) -> bool:
        return edges.unix() >= self.expires_at


class Doors:
    """Sockets by path. Who connects is known by the socket, and proves it by the token."""

    def __init__(self, root: Path, key: bytes) -> None:
        self._root = root
        self._key = key
        self._by_path: dict[str, Door] = {}
        self._of_attempt: dict[tuple[str, str], Door] = {}
        self._runner: web.AppRunner | None = None

    def attach(self, runner: web.AppRunner) -> None:
        self._runner = runner
        self._root.mkdir(mode=0o711, exist_ok=True)

    def token(self, grant: str) -> str:
        """Stateless: a restarted broker knows its old tokens."""
        return hmac.new(self._key, grant.encode(), "sha256").hexdigest()

    def of(self, socket: str) -> Door | None:
        return self._by_path.get(socket)

    async def open(self, ask: TokenFor, grant: Grant, caller: str) -> Door:
        """A fresh door: a new start of an attempt counts its questions from the beginning."""
        await self.close(ask.run, ask.attempt)
        door = Door(
            run=ask.run,
            grant=grant,
            caller=caller,
            purpose=ask.purpose,
            token=f"Bearer {self.token(grant.grant)}".encode(),
            expires_at=ask.expires_at,
            folder=self._root / grant.grant[1:13],
        )
        await self._listen(door)
        self._by_path[str(door.folder / "gateway.sock")] = door
        self._of_attempt[ask.run, ask.attempt] = door
        return door

    async def close(self, run: str, attempt: str) -> None:
        door = self._of_attempt.pop((run, attempt), None)
        if door is None:
            return
        self._by_path.pop(str(door.folder / "gateway.sock"), None)
        if door.site is not None:
            await door.site.stop()
        shutil.rmtree(door.folder, ignore_errors=True)

    async def _listen(self, door: Door) -> None:
        assert self._runner is not None
        path = door.folder / "gateway.sock"
        if len(str(path).encode()) > LONGEST_PATH:
            raise ValueError(f"the socket path is too long: {path}")
        if door.folder.exists():
            shutil.rmtree(door.folder)
        door.folder.mkdir()
        os.chmod(door.folder, 0o755)
        door.site = web.UnixSite(self._runner, str(path))
        await door.site.start()
        os.chmod(path, 0o666)
