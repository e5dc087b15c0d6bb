"""What the kernel and the outer process say to each other: a line of JSON, then raw bytes.

`import json` costs 7 ms for its regular expressions; its C core does not need them.
"""

from __future__ import annotations

import os
from _json import encode_basestring_ascii, make_scanner

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` would take 6 ms to load
    from collections.abc import Iterable, Mapping
    from typing import Any


class _Plain:
    """The options that the scanner reads."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


_scan = make_scanner(_Plain())  # type: ignore[arg-type]


def decode(text: str) -> Any:
    """A JSON text without surrounding white space."""
    return _scan(text, 0)[0]


def encode(value: Any) -> str:
    """Plain data as ASCII JSON."""
    match value:
        case None:
            return "null"
        case True:
            return "true"
        case False:
            return "false"
        case str():
            return str(encode_basestring_ascii(value))
        case dict():
            pairs = (
                f"{encode_basestring_ascii(key)}:{encode(item)}" for key, item in value.items()
            )
            return "{" + ",".join(pairs) + "}"
        case list() | tuple():
            return "[" + ",".join(encode(item) for item in value) + "]"
        case _:
            return repr(value)


def pack(header: Mapping[str, Any], blobs: Iterable[tuple[str, bytes]]) -> list[bytes]:
    """The header line with the sizes of the blobs, then the blobs."""
    named = list(blobs)
    sizes = [[name, len(content)] for name, content in named]
    line = encode({**header, "blobs": sizes}) + "\n"
    return [line.encode(), *(content for _, content in named)]


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The inverse of `pack`. Raises ValueError for a message that was cut off."""
    line, newline, rest = message.partition(b"\n")
    if not newline:
        raise ValueError("no complete header line")
    header = decode(line.decode())
    blobs, at = {}, 0
    for name, size in header.pop("blobs"):
        blobs[name] = rest[at : at + size]
        at += size
    if len(rest) != at:
        raise ValueError("the message does not have its announced length")
    return header, blobs


def read_all(fd: int) -> bytes:
    """Everything up to the end of a descriptor."""
    chunks = []
    while chunk := os.read(fd, 1 << 20):
        chunks.append(chunk)
    return b"".join(chunks)


def write_all(fd: int, parts: Iterable[bytes]) -> None:
    """Write every part, however often the descriptor takes only some of it."""
    for part in parts:
        view = memoryview(part)
        while view:
            view = view[os.write(fd, view) :]
