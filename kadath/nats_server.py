"""The embedded nats-server: its configuration and how to see that it is ready."""

import asyncio
import json
import logging
import socket
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import nats
from nats.aio.client import Client

from kadath.home import Home
from kadath.keys import Keys
from services.kit import streams
from services.kit.supervisor import Unit

CONFIG = """
listen: "127.0.0.1:{port}"
server_name: "kadath"
ports_file_dir: {ports}
max_payload: 1048576
write_deadline: "20s"
jetstream {{
  store_dir: {store}
  sync_interval: {sync}
  max_memory_store: 67108864
}}
{authorization}
"""


logger = logging.getLogger(__name__)

ANY_PORT = -1


def last_port(where: Home) -> int:
    """Where a kernel that was killed listened, if it is free: its clients come back to it."""
    try:
        port = int(json.loads(where.kernel_file.read_text())["nats_url"].rpartition(":")[2])
        socket.create_server(("127.0.0.1", port)).close()
    except (OSError, ValueError, KeyError):
        return ANY_PORT
    return port


def binary() -> Path:
    return Path(sys.prefix) / "bin" / "nats-server"


def write_config(
    state: Path,
    sockets: Path,
    keys: Keys,
    consumers: Mapping[str, Iterable[str]],
    durable: bool,
    port: int = ANY_PORT,
) -> Path:
    """The configuration file, with one nkey user per service and generated permissions."""
    store = state / "nats"
    store.mkdir(exist_ok=True, mode=0o700)
    text = CONFIG.format(
        port=port,
        ports=json.dumps(str(sockets)),
        store=json.dumps(str(store)),
        sync='"always"' if durable else '"1s"',
        authorization=streams.permission_file(keys.public, consumers),
    )
    path = sockets / "nats.conf"
    path.write_text(text)
    return path


def unit(state: Path, sockets: Path, config: Path) -> Unit:
    for old in sockets.glob("nats-server_*.ports"):
        old.unlink()

    async def ready() -> bool:
        return url(sockets) is not None and await _answers(str(url(sockets)))

    return Unit("nats-server", [str(binary()), "-c", str(config)], ready, state / "nats.log")


def url(sockets: Path) -> str | None:
    """Where the server listens, as it wrote it itself."""
    for path in sockets.glob("nats-server_*.ports"):
        try:
            return str(json.loads(path.read_text())["nats"][0])
        except (ValueError, KeyError, IndexError, FileNotFoundError):
            return None
    return None


async def _answers(address: str) -> bool:
    host, _, port = address.removeprefix("nats://").partition(":")
    try:
        reader, writer = await asyncio.open_connection(host, int(port))
        line = await asyncio.wait_for(reader.readline(), timeout=1)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return line.startswith(b"INFO ")


async def connect_operator(address: str, seed: str) -> Client:
    """Reconnects by itself: a kernel that starts anew comes back at the same address."""

    async def on_error(error: Exception) -> None:
        logger.info("nats operator: %s", error)

    return await nats.connect(
        address,
        nkeys_seed_str=seed,
        inbox_prefix="_INBOX.operator",
        reconnect_time_wait=0.2,
        max_reconnect_attempts=300,
        error_cb=on_error,
    )
