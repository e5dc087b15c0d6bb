"""One statement with its arguments: what an event changes in a read model."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from schemas import Recorded


class Write(NamedTuple):
    sql: str
    args: tuple[object, ...]


def upsert(table: str, keys: tuple[str, ...], **columns: object) -> Write:
    """Insert a row, or set the same columns of the row with the same keys."""
    names = list(columns)
    places = ", ".join(f"${n}" for n in range(1, len(names) + 1))
    settable = [name for name in names if name not in keys]
    action = "update set " + ", ".join(f"{name} = excluded.{name}" for name in settable)
    sql = (
        f"insert into {table} ({', '.join(names)}) values ({places}) "
        f"on conflict ({', '.join(keys)}) do {action if settable else 'nothing'}"
    )
    return Write(sql, _storable(columns.values()))


def update(table: str, keys: Mapping[str, object], **columns: object) -> Write:
    """Set columns of the row with these keys, if there is one."""
    names = [*columns, *keys]
    sets = ", ".join(f"{name} = ${n}" for n, name in enumerate(columns, start=1))
    where = " and ".join(f"{name} = ${names.index(name) + 1}" for name in keys)
    arguments = _storable((*columns.values(), *keys.values()))
    return Write(f"update {table} set {sets} where {where}", arguments)


def run_set(recorded: Recorded, **columns: object) -> Write:
    """Set columns of the event's run."""
    return update("runs", {"run": recorded.run}, **columns, last_seq=recorded.seq)


def _storable(values: Iterable[object]) -> tuple[object, ...]:
    """PostgreSQL takes no NUL in a text, and a stranger's words may hold one."""
    return tuple(v.replace("\0", "\ufffd") if isinstance(v, str) else v for v in values)
