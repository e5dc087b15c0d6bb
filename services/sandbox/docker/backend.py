"""The Docker backend: slots that wait for attempts, attempts that run in them."""

import asyncio
import contextlib
import os
from pathlib import Path
from typing import Any

import aiodocker

from services.kit import edges
from services.sandbox.docker import answer, filling, probing
from services.sandbox.docker.config import APP, SCOPE, TARGETS, Kind, Places
from services.sandbox.docker.slot import Slot, SlotFailed
from services.sandbox.local import request, seccomp
from services.sandbox.local.trusted import wire
from services.sandbox.port import Outcome, Probe, Spec

GRACE_SECONDS = 10.0
STATE_SLACK = 1 << 20
KINDS = 4
"""Epoch attempts, measurements, reflections and trials differ in kind."""


class DockerContainers:
    """Runs attempts in containers of the daemon that `DOCKER_HOST` or the default socket names.

    `root` holds the slots' folders, `sockets` their doors; the daemon must see the same paths.
    `warm` containers of each of the kinds that were used last wait ahead of their attempts.
    """

    def __init__(
        self, root: Path, sockets: Path, *, scope: str = "kadath", image: str = "", warm: int = 1
    ) -> None:
        self._root, self._sockets, self._scope = root.absolute(), sockets.absolute(), scope
        self._image = image or probing.tag()
        self._warm = warm
        self._waiting: dict[Kind, list[asyncio.Task[Slot]]] = {}
        self._retiring: set[asyncio.Task[None]] = set()
        self._running: dict[str, Slot] = {}
        self._stopped: set[str] = set()
        self._docker_client: aiodocker.Docker | None = None
        self._probe: Probe | None = None
        self._probing = asyncio.Lock()
        self._closed = False
        self.digest = ""

    @property
    def _docker(self) -> aiodocker.Docker:
        if self._docker_client is None:
            self._docker_client = aiodocker.Docker()
        return self._docker_client

    async def probe(self) -> Probe:
        """Run a trial attempt once; the same answer ever after."""
        async with self._probing:
            if self._probe is None:
                self._probe = await self._look()
        return self._probe

    async def _look(self) -> Probe:
        try:
            found = await self._docker.images.inspect(self._image)
        except (aiodocker.DockerError, OSError, ValueError) as error:
            if getattr(error, "status", 0) == 404:
                return probing.no_image(self._image)
            return probing.no_daemon(error)
        self.digest = str(found["Id"])
        return await probing.probe(self._attempt, self._root)

    async def run(self, spec: Spec) -> Outcome:
        """Run to the end. Raises InvalidSpec; refuses, never runs unisolated."""
        request.check(spec)
        probe = self._probe or await self.probe()
        if not probe.ok:
            detail = f"{probe.reason}. {probe.install_hint}".rstrip(". ")
            return Outcome(exit_code=None, reason="start_failed", detail=detail)
        return await self._attempt(spec)

    async def stop(self, name: str) -> None:
        """Kill a running attempt; its `run` returns soon."""
        if slot := self._running.get(name):
            self._stopped.add(name)
            await slot.kill()

    async def sweep(self, run: str | None, keep: set[str]) -> int:
        """Remove containers of this scope, whichever kernel made them; waiting ones with all."""
        if run is None and not keep:
            await self._drop_waiting()
        killed = 0
        with contextlib.suppress(Exception):  # without a daemon there is nothing to sweep
            for container in await self._docker.containers.list(
                all=True, filters={"label": [f"{APP}=kadath", f"{SCOPE}={self._scope}"]}
            ):
                name = str(container["Names"][0]).removeprefix("/")
                if _chosen(name, self._scope, run, keep):
                    await container.delete(force=True, v=True)
                    killed += name.startswith(f"{self._scope}.")
        return killed

    async def close(self) -> None:
        """Remove everything and let go of the daemon."""
        self._closed = True
        await self.sweep(None, set())
        if self._docker_client is not None:
            await self._docker_client.close()

    def identity(self) -> dict[str, str]:
        """What of this backend a preflight records: the image by its digest."""
        return {"backend": "docker", "image": self.digest}

    def own(self, folder: Path) -> None:
        """A state is read by the container's user through its open modes: nothing to do."""

    async def _drop_waiting(self) -> None:
        tasks = [task for waiting in self._waiting.values() for task in waiting]
        self._waiting.clear()
        await asyncio.gather(*self._retiring, return_exceptions=True)
        for slot in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(slot, Slot):
                await slot.remove()

    async def _slot(self, kind: Kind) -> Slot:
        """One that waits, or a new one; another is made for the next attempt."""
        waiting = self._waiting[kind] = self._waiting.pop(kind, [])  # the newest kind is the last
        self._retire()
        task = waiting.pop(0) if waiting else self._make(kind)
        if not kind.extra and not self._closed:
            waiting += [self._make(kind) for _ in range(self._warm - len(waiting))]
        return await task

    def _retire(self) -> None:
        """Attempts' limits change from run to run: nothing waits for kinds long not asked for."""
        while len(self._waiting) > KINDS:
            for task in self._waiting.pop(next(iter(self._waiting))):
                task.add_done_callback(self._remove_made)

    def _remove_made(self, task: "asyncio.Task[Slot]") -> None:
        if not task.cancelled() and task.exception() is None:
            removal = asyncio.create_task(task.result().remove())
            self._retiring.add(removal)
            removal.add_done_callback(self._retiring.discard)

    def _make(self, kind: Kind) -> "asyncio.Task[Slot]":
        name = f"{os.getpid():x}-{edges.random_bytes(6).hex()}"
        places = Places(self._root / "slots" / name, self._sockets / name)

        async def made() -> Slot:
            slot = Slot(self._docker, places, kind)
            await slot.start(self.digest or self._image, self._scope)
            return slot

        return asyncio.create_task(made())

    async def _attempt(self, spec: Spec) -> Outcome:
        if spec.name in self._running:
            raise request.InvalidSpec(f"{spec.name} is running already")
        try:
            slot = await self._slot(kind_of(spec))
        except SlotFailed as error:
            return Outcome(exit_code=None, reason="start_failed", detail=str(error))
        self._running[spec.name] = slot
        try:
            return await self._in_slot(spec, slot)
        except (aiodocker.DockerError, OSError, ValueError, EOFError, TimeoutError) as error:
            return await self._without_report(spec, slot, error)
        finally:
            del self._running[spec.name]
            self._stopped.discard(spec.name)
            await asyncio.shield(slot.remove())

    async def _in_slot(self, spec: Spec, slot: Slot) -> Outcome:
        await asyncio.to_thread(_fill, spec, slot)
        await slot.name(f"{self._scope}.{spec.run}.{spec.name}")
        assert slot.writer is not None
        slot.writer.writelines(message(spec))
        await slot.writer.drain()
        clock = asyncio.create_task(_clock(spec, slot))
        try:
            spec.spool.mkdir(parents=True, exist_ok=True)
            limit = (spec.limits.evidence_mb << 20) + STATE_SLACK
            left = spec.deadline_at - edges.unix() + GRACE_SECONDS + spec.limits.evidence_mb / 10
            report, blobs = await asyncio.wait_for(
                answer.receive(slot.reader, spec.spool, limit), max(left, GRACE_SECONDS)
            )
        finally:
            clock.cancel()
        return outcome(report, blobs, (await slot.state())["OOMKilled"])

    async def _without_report(self, spec: Spec, slot: Slot, error: Exception) -> Outcome:
        if spec.name in self._stopped:
            return Outcome(exit_code=None, reason="stopped")
        await slot.kill()
        with contextlib.suppress(aiodocker.DockerError, TimeoutError):
            if (await slot.state())["OOMKilled"]:
                detail = "the container was killed for want of memory"
                return Outcome(exit_code=None, reason="oom", detail=detail)
        detail = f"the container ended without a report ({error}) {await slot.log()}"
        return Outcome(exit_code=None, reason="start_failed", detail=detail.strip())


def kind_of(spec: Spec) -> Kind:
    """What of a spec must be known when its container is made."""
    known = tuple(f"/{name}" for name in TARGETS)
    extra = tuple(
        (str(mount.source.resolve()), mount.target)
        for mount in spec.mounts
        if not f"{mount.target}/".startswith(tuple(f"{target}/" for target in known))
    )
    spare = filling.weight_mb(spec.state) if spec.writable else 0
    return Kind(spec.limits, spare, spec.broker is not None, spec.writable, extra)


def message(spec: Spec) -> list[bytes]:
    """The request for the pilot, as parts to be written one after the other."""
    environ = b"\0".join(os.fsencode(f"{key}={value}") for key, value in spec.env.items())
    if len(environ) > request.PIPE_BYTES:
        raise request.InvalidSpec("the environment does not fit into 64 KiB")
    seconds = max(0.0, spec.deadline_at - edges.unix())
    header = {
        "argv": list(spec.argv),
        "cpu_seconds": max(1, int(seconds * spec.limits.cpus) + 2),
        "cwd": spec.cwd,
        "inherits": spec.writable and spec.state is not None,
        "limits": spec.limits.model_dump(),
        "python": "/usr/bin/python3",
        "relay": spec.broker is not None,
        "stdout_limit": spec.stdout_limit,
        "writable": spec.writable,
    }
    return wire.pack(header, [("environ", environ), ("seccomp", seccomp.program())])


def outcome(report: dict[str, Any], blobs: dict[str, bytes], oom_killed: bool) -> Outcome:
    """The same judgement as the local backend's."""
    reason, code = report["reason"], report["exit_code"]
    detail = str(report.get("detail", ""))[:2000]
    if reason == "start_failed":
        return Outcome(exit_code=None, reason=reason, detail=detail)
    if reason == "exit" and code != 0 and oom_killed:
        reason = "oom"
    elif reason == "exit" and code != 0 and report["full"]:
        reason = "quota"
    if oom_killed:
        detail = "processes were killed for want of memory"
    return Outcome(
        exit_code=code,
        reason=reason,
        detail=detail,
        wall_seconds=report["wall_seconds"],
        cpu_seconds=report["cpu_seconds"],
        stdout=blobs.get("stdout", b""),
        stdout_truncated=report["stdout_truncated"],
        log=blobs.get("log", b""),
        frozen=answer.frozen(report["frozen"]),
    )


def _fill(spec: Spec, slot: Slot) -> None:
    extra = {target for _, target in slot.kind.extra}
    for path, content in spec.input.items():
        filling.write(slot.places.content / "input" / path, content)
    for mount in spec.mounts:
        if mount.target not in extra:
            slot.fill(mount.source, mount.target)
    if spec.state is not None and spec.writable:
        slot.fill(spec.state, "/state-in")
    if spec.broker is not None:
        slot.let_in(spec.broker)


async def _clock(spec: Spec, slot: Slot) -> None:
    """Tell the organism to finish, and then its pilot that time is up."""
    await asyncio.sleep(max(spec.finalize_at - edges.unix(), 0))
    filling.write(slot.places.content / "signals" / "finalize", b"")
    await asyncio.sleep(max(spec.deadline_at - edges.unix(), 0))
    if slot.writer is not None:
        slot.writer.write(b"d")


def _chosen(name: str, scope: str, run: str | None, keep: set[str]) -> bool:
    """A container without an attempt is nobody's; the others are named scope.run.attempt."""
    if not name.startswith(f"{scope}."):
        return run is None
    owner, _, attempt = name.removeprefix(f"{scope}.").partition(".")
    return (run is None or run == owner) and attempt not in keep
