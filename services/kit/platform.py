"""Where the machine keeps things: given to every service, chosen by the deployment."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Platform:
    """`state` is durable, `sockets` is short and dies with the kernel, `cache` may be deleted.

    `dsn` and `nkeys` map a service or user to its own credentials; they stay in memory.
    `sandbox_uid` is None when the kernel itself is an ordinary user.
    """

    home: Path
    state: Path
    sockets: Path
    cache: Path
    nats_url: str
    nkeys: Mapping[str, str]
    dsn: Mapping[str, str]
    keys: Mapping[str, bytes]
    slots: int
    sandbox_uid: int | None
    sandbox_gid: int | None
    tape: str | None = None
