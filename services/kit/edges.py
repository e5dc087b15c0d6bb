"""The only clock, randomness, environment and secrets of every service."""

import os
import secrets as _secrets
import time
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime


def now() -> datetime:
    """UTC, microseconds."""
    return datetime.now(UTC)


def unix() -> float:
    """Seconds since 1970, for deadlines that cross into a sandbox."""
    return time.time()


def random_bytes(count: int) -> bytes:
    return _secrets.token_bytes(count)


def uuid7() -> str:
    """Time-ordered id for commands (RFC 9562): 48 bits of milliseconds, then randomness."""
    milliseconds = time.time_ns() // 1_000_000
    value = (milliseconds << 80) | int.from_bytes(_secrets.token_bytes(10), "big")
    value = (value & ~(0xF << 76)) | (0x7 << 76)
    value = (value & ~(0x3 << 62)) | (0x2 << 62)
    return str(uuid.UUID(int=value))


def environment(name: str, default: str = "") -> str:
    return os.environ.get(name, default)


class Secrets:
    """Resolves secret names, and finds their values in bytes that are about to leave."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._values = {name: os.environ[name] for name in names if os.environ.get(name)}

    def add(self, name: str, value: str) -> None:
        if value:
            self._values[name] = value

    def resolve(self, name: str) -> str:
        """The value of a secret. Raises `KeyError` when it is not configured."""
        return self._values[name]

    def leaked(self, encoded: bytes) -> str | None:
        """The name of a secret whose value stands in `encoded`, or None."""
        for name, value in self._values.items():
            if len(value) >= 8 and value.encode() in encoded:
                return name
        return None

    def redact(self, text: str) -> str:
        """Replace every known value by its name; counters and other words stay."""
        for name, value in self._values.items():
            if len(value) >= 8:
                text = text.replace(value, f"[secret {name}]")
        return text
