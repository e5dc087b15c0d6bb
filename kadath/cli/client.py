"""A client of a running kernel: commands over NATS, queries over lineage's API, the log."""

import asyncio
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import ConsumerConfig, DeliverPolicy
from nats.js.client import JetStreamContext

from kadath import VERSION, home, nats_server
from kadath.home import Home, Kernel
from schemas import CATALOGUE, Recorded, subjects
from schemas.commands import Accepted, Command
from services.kit import commands
from services.kit.blobs import FileBlobs

START_SECONDS = 60
IDLE_SECONDS = 300
SUBSCRIBE_TRIES = 4


class WrongVersion(RuntimeError):
    """The running kernel is of another version: it must be stopped first."""


class KernelFailed(RuntimeError):
    """A kernel could not be started; the message holds the end of its log."""


def ensure(where: Home) -> Kernel:
    """The kernel of this home; one is started quietly when none runs."""
    kernel = home.running_kernel(where) or _start(where)
    if kernel.version != VERSION:
        raise WrongVersion(
            f"kernel {kernel.version} (pid {kernel.pid}) runs in {where.folder}, this is "
            f"{VERSION}: stop it with `kadath down`"
        )
    return kernel


def _start(where: Home) -> Kernel:
    home.prepare(where)
    _wait_until_free(where)
    log = where.folder / "kernel.log"
    command = [sys.executable, "-m", "kadath", "--home", str(where.folder), "up"]
    with open(log, "ab") as output:
        process = subprocess.Popen(
            [*command, "--idle-exit", str(IDLE_SECONDS)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if (kernel := home.running_kernel(where)) is not None:
            return kernel
        if process.poll() is not None:
            break
        time.sleep(0.05)
    tail = log.read_bytes()[-1500:].decode("utf-8", "replace")
    raise KernelFailed(f"no kernel in {where.folder}: {tail}")


def _wait_until_free(where: Home) -> None:
    """A kernel that is just stopping still holds the home for a moment."""
    deadline = time.monotonic() + 20
    while home.is_held(where) and home.running_kernel(where) is None:
        if time.monotonic() > deadline:
            return
        time.sleep(0.05)


class Session:
    """One operator's connection to one kernel."""

    def __init__(self, where: Home, kernel: Kernel, nats: Client) -> None:
        self.home = where
        self.kernel = kernel
        self.nats = nats
        self.blobs = FileBlobs(where.state / "blobs")

    async def send(self, service: str, command: Command) -> Accepted:
        """Raises `commands.Denied` with a reason and a hint."""
        return await commands.send(self.nats, service, command)

    async def get(self, path: str) -> Any:
        """One answer of lineage's API."""
        headers = {"Authorization": f"Bearer {self.kernel.api_token}"}
        async with httpx.AsyncClient(base_url=self.kernel.api_url, headers=headers) as client:
            response = await client.get(path, timeout=30)
        if response.status_code == 404:
            raise LookupError(response.text)
        response.raise_for_status()
        return response.json()

    async def events(
        self, subject: str, until: Callable[[Recorded], bool], follow: bool = True
    ) -> AsyncIterator[Recorded]:
        """Every event of `subject` from the first on, in order, until `until` says so."""
        for _ in range(SUBSCRIBE_TRIES):
            # A request that a dying server took along is made again, with a queue of its own.
            queue: asyncio.Queue[Recorded | None] = asyncio.Queue()
            with contextlib.suppress(nats.errors.TimeoutError):
                subscription = await self._subscribe(subject, queue, follow)
                break
        else:
            raise KernelFailed(f"the kernel does not answer: see {self.home.folder}/kernel.log")
        try:
            while (recorded := await queue.get()) is not None:
                yield recorded
                if until(recorded):
                    return
        finally:
            await subscription.unsubscribe()

    async def _subscribe(
        self, subject: str, queue: asyncio.Queue[Recorded | None], follow: bool
    ) -> JetStreamContext.PushSubscription:
        """An ordered consumer that fills `queue`; None ends it where the log ends."""

        async def on_message(message: Msg) -> None:
            tokens = message.reply.split(".")
            with contextlib.suppress(ValueError):
                await queue.put(Recorded.read(int(tokens[5]), message.data, CATALOGUE))
            if tokens[8] == "0" and not follow:
                await queue.put(None)

        config = ConsumerConfig(deliver_policy=DeliverPolicy.ALL)
        subscription = await self.nats.jetstream().subscribe(
            subject, stream=subjects.EVENTS, ordered_consumer=True, config=config, cb=on_message
        )
        info = await subscription.consumer_info()
        if not follow and not info.num_pending and not info.delivered.consumer_seq:
            await queue.put(None)
        return subscription


@contextlib.asynccontextmanager
async def session(where: Home) -> AsyncIterator[Session]:
    """Connect to the home's kernel, starting one when none runs."""
    kernel = await asyncio.to_thread(ensure, where)
    nats = await nats_server.connect_operator(kernel.nats_url, kernel.operator_seed)
    try:
        yield Session(where, kernel, nats)
    finally:
        await nats.close()
