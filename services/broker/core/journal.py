"""When a recorded answer may be used again: the key of a call (architecture 2.9)."""

from typing import NamedTuple

from schemas import BlobRef, canonical, digest


class Keys(NamedTuple):
    """`call` belongs to one run; `tape` is equal in every run that asks the same."""

    call: str
    tape: str


class Answered(NamedTuple):
    """A recorded call, as much of it as a repeat needs."""

    call: str
    response: BlobRef


def keys(run: str, caller: str, occurrence: int, request: bytes) -> Keys:
    """`request` is canonical: model, messages, parameters, contract; a changed one never hits."""
    asked = digest(request)
    return Keys(
        digest(canonical([run, caller, occurrence, asked])),
        digest(canonical(["", caller, occurrence, asked])),
    )


def call_id(key: str) -> str:
    """The entity id of a call: a shorter form of its key."""
    return f"c{key[:31]}"


def organism(attempt: str, own_crashes: int) -> str:
    """An own crash samples anew; a lost lease replays from the journal."""
    return f"{attempt}+{own_crashes}" if own_crashes else attempt


def specialist(name: str, about: str, attempt_no: int) -> str:
    return f"{name}/{about}/{attempt_no}"
