"""What comes back through a pilot's door: frozen contents into the spool, then the report."""

import asyncio
import hashlib
import os
from pathlib import Path
from typing import Any

from schemas.values.tree import Rejected, TreeFile
from services.sandbox.local.trusted import wire
from services.sandbox.port import Frozen

END, LAST = 0, 0xFFFFFFFF
LARGEST_FRAME = 1 << 20
HEADER_BYTES = 64 << 20


class BadAnswer(ValueError):
    """The pilot said something that it never says: the container is not to be believed."""


async def receive(
    reader: asyncio.StreamReader, spool: Path, limit: int
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The report and its blobs; contents lie in `spool` by the hash that was taken here.

    `limit`: bytes of all contents together. Raises `BadAnswer` or `IncompleteReadError`.
    """
    known = await _contents(reader, spool, limit)
    header = wire.decode((await _line(reader)).decode())
    blobs = {name: await reader.readexactly(size) for name, size in header.pop("blobs")}
    for path, size, sha, *_ in (header["frozen"] or {"files": []})["files"]:
        if known.get(sha) != size:
            raise BadAnswer(f"{path!r} was announced but not sent")
    return header, blobs


async def _contents(reader: asyncio.StreamReader, spool: Path, limit: int) -> dict[str, int]:
    known: dict[str, int] = {}
    part = spool / ".part"
    while True:
        length = int.from_bytes(await reader.readexactly(4), "big")
        if length == LAST:
            return known
        sha, size = await _file(reader, part, length, limit)
        limit -= size
        known[sha] = size
        os.replace(part, spool / sha)


async def _file(
    reader: asyncio.StreamReader, part: Path, length: int, limit: int
) -> tuple[str, int]:
    hasher, size = hashlib.sha256(), 0
    with open(part, "wb") as file:
        while length != END:
            size += length
            if length > LARGEST_FRAME or size > limit:
                raise BadAnswer("more content than an attempt may leave")
            chunk = await reader.readexactly(length)
            hasher.update(chunk)
            file.write(chunk)
            length = int.from_bytes(await reader.readexactly(4), "big")
    return hasher.hexdigest(), size


async def _line(reader: asyncio.StreamReader) -> bytes:
    """The header may be longer than the reader's own limit on lines."""
    text = bytearray()
    while True:
        try:
            return bytes(text + await reader.readuntil(b"\n"))
        except asyncio.LimitOverrunError as error:
            text += await reader.readexactly(max(error.consumed, 1))
            if len(text) > HEADER_BYTES:
                raise BadAnswer("the report has no end") from None


def frozen(report: dict[str, Any] | None) -> Frozen | None:
    if report is None:
        return None
    keys = ("path", "size", "sha256", "executable", "mark")
    files = (TreeFile(**dict(zip(keys, row, strict=True))) for row in report["files"])
    rejected = (Rejected(path=path, reason=reason) for path, reason in report["rejected"])
    return Frozen(tuple(files), tuple(report["deleted"]), tuple(rejected), report["omitted"])
