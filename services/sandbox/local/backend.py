"""The local backend: one trusted outer process an attempt, bubblewrap inside it."""

import asyncio
import os
import pwd
import shutil
from pathlib import Path
from typing import Literal

from services.sandbox.local import probing, request, seccomp, sweeping
from services.sandbox.local.process import OuterProcess
from services.sandbox.local.trusted.labels import label
from services.sandbox.port import Outcome, Probe, Spec

FALLBACK_ID = 65532


class LocalContainers:
    """Runs attempts without a daemon.

    `root` is a folder of the backend's own, on a path that the sandbox user may traverse. As root
    everything runs as `user` (default: `kadath`, else `nobody`), which must own inherited states
    and be able to read the sources of mounts; as an ordinary user it is that user. `scope` names
    this kernel among others on the machine: a sweep stays within it.
    """

    def __init__(
        self,
        root: Path,
        *,
        scope: str = "kadath",
        user: tuple[int, int] | None = None,
        cgroups: bool = True,
        overlay: bool | None = None,
        bwrap: str = "/usr/bin/bwrap",
        python: str = "/usr/bin/python3",
    ) -> None:
        self.user = user if os.geteuid() == 0 and user else sandbox_user()
        if self.user[0] == 0:
            raise ValueError("a sandbox never runs as root")
        self._root, self._scope = root.absolute(), scope
        self._bwrap, self._python = bwrap, python
        self._cgroups: Literal["none", "try", "must"]
        self._cgroups = "try" if cgroups and os.geteuid() == 0 else "none"
        self._overlay = overlay
        self._running: dict[str, OuterProcess] = {}
        self._probe: Probe | None = None
        self._machine: request.Machine | None = None
        self._probing = asyncio.Lock()

    async def probe(self) -> Probe:
        """Run a trial attempt once; the same answer ever after."""
        async with self._probing:
            if self._probe is None:
                self._probe = probing.refusal(self._bwrap, self._python) or await self._try()
        return self._probe

    async def run(self, spec: Spec) -> Outcome:
        """Run to the end. Raises InvalidSpec; refuses, never runs unisolated."""
        request.check(spec)
        probe = self._probe or await self.probe()
        if not probe.ok or self._machine is None:
            detail = f"{probe.reason}. {probe.install_hint}".rstrip(". ")
            return Outcome(exit_code=None, reason="start_failed", detail=detail)
        outcome, _ = await self._attempt(spec, self._machine)
        return outcome

    async def stop(self, name: str) -> None:
        """Kill a running attempt and wait until it is gone."""
        if process := self._running.get(name):
            await process.stop()

    async def sweep(self, run: str | None, keep: set[str]) -> int:
        """Kill attempts of this scope, whichever kernel started them."""
        return await sweeping.sweep(sweeping.chooser(self._scope, run, keep))

    def identity(self) -> dict[str, str]:
        """What of this backend a preflight records."""
        return {"backend": "local"}

    def own(self, folder: Path) -> None:
        """Give a folder to the sandbox user, where that is another one."""
        if os.geteuid() == 0:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, *self.user, follow_symlinks=False)

    async def _try(self) -> Probe:
        for folder in (self._root / "mnt", self._root / "pyc", self._root / "spool"):
            folder.mkdir(parents=True, exist_ok=True)
        lower = probing.lay_out(self._root)
        self.own(lower)
        spool = self._root / "spool"
        try:
            probe, found = await probing.probe(self._trial, lower, spool)
        finally:
            shutil.rmtree(spool)
            shutil.rmtree(lower)
        self._cgroups = "must" if found.cgroups else "none"
        self._machine = self._describe(found.overlay) if probe.ok else None
        return probe

    async def _trial(self, spec: Spec, overlay: bool) -> tuple[Outcome, str | None]:
        return await self._attempt(spec, self._describe(overlay))

    def _describe(self, overlay: bool) -> request.Machine:
        return request.Machine(
            mountpoint=str(self._root / "mnt"),
            bwrap=self._bwrap,
            python=self._python,
            user=self.user,
            cgroups=self._cgroups,
            overlay=overlay if self._overlay is None else self._overlay,
            seccomp=seccomp.program(),
            launcher=request.LAUNCHER.read_bytes(),
        )

    async def _attempt(self, spec: Spec, machine: request.Machine) -> tuple[Outcome, str | None]:
        if spec.name in self._running:
            raise request.InvalidSpec(f"{spec.name} is running already")
        _prepare_spool(spec.spool, self.user)
        text = label(self._scope, spec.run, spec.name)
        message = request.encode(spec, machine)
        process = OuterProcess(text, message, self._python, self._root / "pyc")
        self._running[spec.name] = process
        try:
            return request.decode(await process.answer())
        except ValueError as error:
            await sweeping.sweep(text.__eq__)
            return _without_report(process.stopping, error), None
        finally:
            del self._running[spec.name]
            if process.killed:
                sweeping.remove_cgroups(text.__eq__)


def _without_report(stopped: bool, error: ValueError) -> Outcome:
    if stopped:
        return Outcome(exit_code=None, reason="stopped")
    detail = f"the outer process ended without a report ({error})"
    return Outcome(exit_code=None, reason="start_failed", detail=detail)


def sandbox_user() -> tuple[int, int]:
    """Whom attempts run as: oneself, or as root an account without rights."""
    if os.geteuid() != 0:
        return os.geteuid(), os.getegid()
    for name in ("kadath", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return entry.pw_uid, entry.pw_gid
    return FALLBACK_ID, FALLBACK_ID


def _prepare_spool(spool: Path, user: tuple[int, int]) -> None:
    spool.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0 and spool.stat().st_uid != user[0]:
        os.chown(spool, *user)
