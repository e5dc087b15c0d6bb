"""The hash chain over the events of one run: an edited, missing or moved event breaks it."""

import hashlib
from collections.abc import Iterable

START = hashlib.sha256(b"kadath chain 1").hexdigest()


def extend(head: str, body: bytes) -> str:
    """The head after one more event; `body` is its JSON exactly as stored."""
    return hashlib.sha256(bytes.fromhex(head) + body).hexdigest()


def head_of(bodies: Iterable[bytes]) -> str:
    head = START
    for body in bodies:
        head = extend(head, body)
    return head
