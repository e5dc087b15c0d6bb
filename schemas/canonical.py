"""One way to write JSON, so that equal content has equal bytes and an equal hash."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from schemas.refs import BlobRef

Row = TypeVar("Row", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Rows:
    """A list kept outside an event: its reference, its number of rows, and its bytes."""

    ref: BlobRef
    count: int
    content: bytes


def canonical(value: object) -> bytes:
    """JSON with sorted keys, no spaces, ASCII only; a lone surrogate stays an escape."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":")).encode()


def digest(content: bytes) -> str:
    """SHA-256 as 64 hex digits."""
    return hashlib.sha256(content).hexdigest()


def ref_of(content: bytes, media: str = "application/json") -> BlobRef:
    """The reference that the blob store will know these bytes by."""
    return BlobRef(sha256=digest(content), size=len(content), media=media)


def rows(items: Iterable[BaseModel]) -> Rows:
    """The canonical bytes of a list, in the order given, and the reference to them."""
    plain = [item.model_dump(mode="json") for item in items]
    content = canonical(plain)
    return Rows(ref_of(content), len(plain), content)


def listed(content: bytes, kind: type[Row]) -> list[Row]:
    """What `rows` wrote, read back. Raises `ValueError` on anything else."""
    return [kind.model_validate(row) for row in json.loads(content)]


def _plain(value: object) -> object:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value
