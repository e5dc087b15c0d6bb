"""What a service is: tables of reactions, effects and commands around a pure core."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from schemas import BlobRef, Draft, Event, Recorded
from schemas.base import Value
from schemas.commands import Command, Refused

if TYPE_CHECKING:
    from services.kit.engine import Context

ReadBlob = Callable[[BlobRef], bytes]
"""Content by hash: the same answer for ever, so a pure decision may use it."""


class View(Protocol):
    """What one service knows about one run: a fold of its events, read-only to decisions."""

    def apply(self, recorded: Recorded) -> None: ...


@dataclass(frozen=True)
class Reaction:
    """A doorbell and a pure decision.

    `rings` names what an event may concern (an entity id, or `main`); `decide` answers what
    is due for it, given everything that is true, or `[]`. `due` tells when to ask again.
    `name` ends in `@version`; it goes into the envelope's `by`.
    """

    name: str
    on: tuple[type[Event], ...]
    rings: Callable[[Recorded, Any], Iterable[str]]
    decide: Callable[[Any, str, datetime], list[Draft]]
    due: Callable[[Any, str], datetime | None] | None = None


@dataclass(frozen=True)
class Effect:
    """Impure work on a recorded request, leased to one holder at a time."""

    name: str
    on: type[Event]
    due: Callable[[Any, Recorded], bool]
    run: Callable[["Context", Recorded], Awaitable[None]]
    slots: int = 4


@dataclass(frozen=True)
class Handler:
    """A command and the pure decision that accepts or refuses it."""

    command: type[Command]
    decide: Callable[[Any, Any, datetime], list[Draft] | Refused]


@dataclass(frozen=True)
class Rpc:
    """A request that is answered by impure work; its reply is not an event."""

    name: str
    request: type[Value]
    answer: Callable[["Context", Any], Awaitable[Value]]


@dataclass(frozen=True)
class Service:
    """The table of contents of a service. `start` runs once; what it returns is closed last."""

    name: str
    view: Callable[[str, ReadBlob], View]
    handles: tuple[type[Event], ...]
    reactions: tuple[Reaction, ...] = ()
    effects: tuple[Effect, ...] = ()
    commands: tuple[Handler, ...] = ()
    rpcs: tuple[Rpc, ...] = ()
    start: Callable[["Context"], Awaitable[Callable[[], Awaitable[None]]]] | None = None
