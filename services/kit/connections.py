"""Connections of a NATS user: own key, own inbox, endless reconnect, errors kept for a caller."""

import logging
from typing import NamedTuple

import nats
from nats.aio.client import Client

from schemas import subjects

logger = logging.getLogger(__name__)


class Connection(NamedTuple):
    """A client and the permission violations the server reported on it."""

    client: Client
    violations: list[str]


async def connect(url: str, user: str, seed: str) -> Connection:
    """Connect as `user`. `seed` is its nkey seed; it stays in memory."""
    violations: list[str] = []

    async def on_error(error: Exception) -> None:
        # A denied publish is only a time-out for its caller; the reason arrives here.
        text = str(error)
        if "permissions violation" in text.lower():
            violations.append(text)
            del violations[:-100]
        logger.warning("nats %s: %s", user, text)

    client = await nats.connect(
        url,
        name=user,
        nkeys_seed_str=seed,
        inbox_prefix=subjects.inbox(user),
        max_reconnect_attempts=-1,
        reconnect_time_wait=0.2,
        pending_size=64 << 20,
        error_cb=on_error,
    )
    return Connection(client, violations)
