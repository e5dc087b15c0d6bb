"""Identifiers. Each is derived from what it names, so every retry makes the same one."""

import hashlib
import re
import uuid
from datetime import datetime

NAMESPACE = uuid.UUID("6f2d0c3e-8a5b-5d1e-9f47-1c0e4b7a9d21")
"""The namespace of every derived KADATH id."""

MAIN = "main"
RUN = re.compile(r"^r\d{8}-\d{6}-[0-9a-f]{6}$")
TOKEN = re.compile(r"^[A-Za-z0-9_-]{1,80}$")


def run_id(at: datetime, randomness: bytes) -> str:
    """`rYYYYMMDD-HHMMSS-xxxxxx`, UTC; the suffix comes from 3 random bytes of the caller."""
    return f"r{at:%Y%m%d-%H%M%S}-{randomness[:3].hex()}"


def event_id(run: str, entity: str, entity_id: str, position: int) -> str:
    """The id of the event at `position` (0-based) of an entity: equal for every replica."""
    return str(uuid.uuid5(NAMESPACE, f"{run}/{entity}/{entity_id}/{position}"))


def agent_id(number: int) -> str:
    return f"a{number:04d}"


def agent_number(agent: str) -> int:
    """The numeric part: ties are broken by it, so a1000 comes after a0999."""
    return int(agent[1:])


def epoch_id(epoch: int) -> str:
    return f"e{epoch:03d}"


def attempt_id(epoch: int, attempt_try: int, agent: str, suffix: str = "") -> str:
    """`e003x1-a0012`, with `-reflect` or `-m-<program>` for the other purposes."""
    return f"e{epoch:03d}x{attempt_try}-{agent}" + (f"-{suffix}" if suffix else "")


def reflection_attempt(reflection: str, attempt_try: int) -> str:
    """The reflection `e002-a0003` runs in the attempt `e002x1-a0003-reflect`."""
    epoch, _, agent = reflection.partition("-")
    return f"{epoch}x{attempt_try}-{agent}-reflect"


def reflection_of(attempt: str) -> str | None:
    """The reflection that an attempt belongs to; None for one of another purpose."""
    head, _, tail = attempt.partition("-")
    if not tail.endswith("-reflect"):
        return None
    return f"{head.partition('x')[0]}-{tail.removesuffix('-reflect')}"


def seed_of(*parts: object) -> int:
    """A 63-bit seed out of recorded facts; the only source of chance in a decision."""
    text = "/".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
