"""Old event versions, rewritten into the newest: pure functions of the payload."""

from collections.abc import Callable
from typing import cast

type_version = tuple[str, int]


def _benchmark_approved_1(data: dict[str, object]) -> dict[str, object]:
    """v1 named the approver only; v2 adds whether a person or a policy approved."""
    return {**data, "automatic": False}


UPCASTS: dict[type_version, Callable[[dict[str, object]], dict[str, object]]] = {
    ("benchmark.approved", 1): _benchmark_approved_1,
}


def upcast(kind: str, version: int, data: object) -> tuple[str, int, object]:
    """Follow the chain of upcasts to the newest version of `kind`."""
    while (step := UPCASTS.get((kind, version))) is not None:
        data, version = step(cast(dict[str, object], data)), version + 1
    return kind, version, data
