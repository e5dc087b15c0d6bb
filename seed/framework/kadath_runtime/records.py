"""Durable files of an attempt: whole or absent, always valid UTF-8 JSON."""

import json
import math
import os
from pathlib import Path
from typing import Any

MAX_LOG_BYTES = 16 * 1024 * 1024
# Model-written code may have put a link or a FIFO in a record's place.
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def write_json(path: Path, value: Any) -> None:
    """Replace `path` by the JSON of `value`, atomically."""
    write_text(path, json.dumps(clean(value), ensure_ascii=False, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Replace `path`, atomically."""
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, NEW, 0o644), "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)


def append_line(path: Path, value: Any) -> None:
    """Add one JSON line, in one write; a log that has grown too long takes no more."""
    line = json.dumps(clean(value), ensure_ascii=False, allow_nan=False) + "\n"
    with os.fdopen(os.open(path, APPEND, 0o644), "ab", buffering=0) as file:
        if file.tell() <= MAX_LOG_BYTES:
            file.write(line.encode())


def read_json(path: Path) -> Any:
    """The JSON in `path`, or None where there is no such thing."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def clean(value: Any) -> Any:
    """The same value as strict JSON: no lone surrogates, no infinities, no foreign types."""
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case str():
            return plain(value)
        case dict():
            return {plain(str(key)): clean(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [clean(item) for item in value]
    return plain(str(value))


def plain(text: str) -> str:
    """`text` without lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8")


def clip(text: str, limit: int) -> str:
    """At most `limit` characters: the beginning and the end, and how much is missing between."""
    if len(text) <= limit:
        return text
    mark = f"\n[... {len(text) - limit} characters left out ...]\n"
    keep = max(0, limit - len(mark))
    return text[: keep - keep // 3] + mark + text[len(text) - keep // 3 :]
