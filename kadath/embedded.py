"""One machine: nats-server and PostgreSQL as children, all seven services in this process."""

import asyncio
import contextlib
import importlib
import logging
import os
import shutil
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

from kadath import VERSION, home, keys, nats_server, postgres, rebirth
from kadath.home import Home, Kernel
from schemas.events import SERVICES
from services.kit import edges, runner
from services.kit.blobs import FileBlobs
from services.kit.leases import consumer_name
from services.kit.platform import Platform
from services.kit.service import Service
from services.kit.supervisor import Supervisor

logger = logging.getLogger(__name__)


def all_services() -> tuple[Service, ...]:
    """The table of contents of every service."""
    modules = [importlib.import_module(f"services.{name}.service") for name in SERVICES]
    return tuple(cast(Service, module.SERVICE) for module in modules)


def default_slots() -> int:
    """How many attempts run at once: one a core, and one for every 2 GiB at most."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(os.cpu_count() or 1, memory // (2 << 30)))


@contextlib.asynccontextmanager
async def embedded(
    where: Home,
    durable: bool = False,
    slots: int | None = None,
    tape: str | None = None,
    supervisor: Supervisor | None = None,
) -> AsyncIterator[runner.Running]:
    """The whole kernel, up. Raises `HomeBusy`, `HomeUnusable` or `ChildFailed`."""
    home.prepare(where)
    held = home.lock(where)
    port = nats_server.last_port(where)
    where.kernel_file.unlink(missing_ok=True)  # a killed kernel's: its address answers no more
    supervisor = supervisor or Supervisor()
    try:
        _remove_stale(where.sockets)
        platform = await _start_children(where, supervisor, durable, slots, tape, port)
        blobs = FileBlobs(where.state / "blobs", durable)
        async with runner.running(all_services(), platform, blobs, edges.Secrets()) as state:
            yield state
    finally:
        where.kernel_file.unlink(missing_ok=True)
        await supervisor.stop()
        shutil.rmtree(where.sockets, ignore_errors=True)
        held.close()


async def _start_children(
    where: Home,
    supervisor: Supervisor,
    durable: bool,
    slots: int | None,
    tape: str | None,
    port: int,
) -> Platform:
    found = keys.load(where.folder)
    owner = home.sandbox_user()
    consumers = {s.name: [consumer_name(s.name, e) for e in s.effects] for s in all_services()}
    config = nats_server.write_config(where.state, where.sockets, found, consumers, durable, port)
    data = await asyncio.to_thread(postgres.initialise, where.state, found, owner)
    await asyncio.gather(
        supervisor.start(nats_server.unit(where.state, where.sockets, config)),
        supervisor.start(postgres.unit(where.state, where.sockets, data, owner)),
    )
    address = str(nats_server.url(where.sockets))
    await _deploy(where, found, address)
    cache = where.state / "cache"
    cache.mkdir(exist_ok=True, mode=0o755)
    return Platform(
        home=where.folder,
        state=where.state,
        sockets=where.sockets,
        cache=cache,
        nats_url=address,
        nkeys=found.nkeys,
        dsn={r: postgres.dsn(where.sockets, r, found.passwords[r]) for r in keys.ROLES},
        keys=found.secret,
        slots=slots or default_slots(),
        sandbox_uid=owner[0] if owner else None,
        sandbox_gid=owner[1] if owner else None,
        tape=tape,
    )


async def _deploy(where: Home, found: keys.Keys, address: str) -> None:
    root = Path(__file__).parent.parent / "services"
    folders = {role: root / role / "sql" for role in keys.ROLES}
    await postgres.migrate(where.sockets, found, folders)
    operator = await nats_server.connect_operator(address, found.nkeys["operator"])
    try:
        await runner.deploy(operator, all_services())
    finally:
        await operator.close()


def _remove_stale(sockets: Path) -> None:
    """What an earlier kernel left when it was killed; the lock says it is dead."""
    for entry in sockets.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


async def serve(
    where: Home,
    durable: bool,
    slots: int | None,
    tape: str | None = None,
    idle_exit: int | None = None,
) -> None:
    """Run until SIGTERM, SIGINT or SIGHUP, or until no run was active for `idle_exit` seconds.

    When nats-server or PostgreSQL dies, the kernel starts anew in the same process.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    supervisor = Supervisor()
    async with embedded(where, durable, slots, tape, supervisor) as state:
        announce(where, state)
        working = [
            asyncio.create_task(_stop_when_idle(state, stop, idle_exit)),
            asyncio.create_task(rebirth.when_a_child_dies(supervisor)),
        ]
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait([stopped, working[1]], return_when=asyncio.FIRST_COMPLETED)
        for task in working:
            task.cancel()
        if not stop.is_set():
            await working[1]


async def _stop_when_idle(state: runner.Running, stop: asyncio.Event, seconds: int | None) -> None:
    """A kernel that a command started by itself does not stay for ever."""
    quiet, head = 0.0, -1
    while seconds is not None and quiet < seconds:
        await asyncio.sleep(1)
        follower = state.engine.follower
        moved = follower is not None and follower.seq != head
        head = follower.seq if follower else head
        quiet = 0.0 if moved or _active(state) else quiet + 1
    if seconds is not None:
        stop.set()


def _active(state: runner.Running) -> bool:
    """Whether any run has work to do: not ended, not paused, not waiting for a person."""
    views = [run.views.get("scheduler") for run in state.engine.runs.values()]
    return any(v is not None and not (v.terminal or v.paused or not v.approved) for v in views)


def announce(where: Home, state: runner.Running) -> None:
    """Write `kernel.json` so that clients find this kernel."""
    lineage = state.engine.contexts["lineage"]
    platform = lineage.platform
    home.announce(
        where,
        Kernel(
            pid=os.getpid(),
            version=VERSION,
            nats_url=platform.nats_url,
            api_url=str(lineage.resources.get("api_url", "")),
            operator_seed=platform.nkeys["operator"],
            api_token=str(lineage.resources.get("api_token", "")),
        ),
    )
