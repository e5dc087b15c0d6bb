"""What a run may spend: blocks set aside for grants, caps that end the work."""

from datetime import datetime
from decimal import Decimal
from typing import Literal, NamedTuple

from schemas import Draft, ids
from schemas.events.budget import BudgetExhausted, BudgetSettled
from services.broker.core.view import Block, View

BLOCK = Block(tokens=50_000, calls=32)
SHARE = 8
"""A block takes at most this part of what is free: later grants find something left."""
TIGHT = 0.7
CRITICAL = 0.9


class Exhausted(NamedTuple):
    limit: Literal["tokens", "calls", "usd", "wall_seconds"]
    used: int
    cap: int


class Pending(NamedTuple):
    """Calls that are under way and not recorded yet."""

    tokens: int = 0
    calls: int = 0


def block(view: View) -> Block:
    """What a new grant gets for itself."""
    caps = view.caps
    free = _unreserved(view)
    return Block(
        tokens=BLOCK.tokens if caps.tokens is None else _part(BLOCK.tokens, free.tokens),
        calls=BLOCK.calls if caps.calls is None else _part(BLOCK.calls, free.calls),
    )


def _part(whole: int, free: int) -> int:
    return max(0, min(whole, free // SHARE))


def _unreserved(view: View) -> Block:
    """Caps less what is spent and what open blocks still hold; nobody asks without a cap."""
    caps = view.caps
    if caps.tokens is None and caps.calls is None:
        return Block(0, 0)
    held = [view.left_of(grant) for grant in view.open_blocks]
    return Block(
        tokens=(caps.tokens or 0) - view.spent.tokens - sum(left.tokens for left in held),
        calls=(caps.calls or 0) - view.spent.calls - sum(left.calls for left in held),
    )


def exhausted(
    view: View, grant: str | None, pending: Pending, estimate: int, now: datetime
) -> Exhausted | None:
    """The cap that forbids one more call of about `estimate` tokens, or None."""
    caps, free = view.caps, _unreserved(view)
    own = view.left_of(grant) if grant in view.open_blocks else Block(0, 0)
    if caps.tokens is not None:
        room = free.tokens + own.tokens - pending.tokens
        if room < max(1, estimate):
            return Exhausted("tokens", caps.tokens - max(room, 0), caps.tokens)
    if caps.calls is not None and free.calls + own.calls - pending.calls < 1:
        return Exhausted("calls", caps.calls, caps.calls)
    if caps.usd is not None and view.spent.usd >= caps.usd:
        return Exhausted("usd", _cents(view.spent.usd), _cents(caps.usd))
    seconds = view.wall_seconds(now)
    if caps.wall_seconds is not None and seconds >= caps.wall_seconds:
        return Exhausted("wall_seconds", int(seconds), caps.wall_seconds)
    return None


def _cents(usd: Decimal) -> int:
    return int(usd * 100)


def announce(view: View, found: Exhausted) -> list[Draft]:
    """Said once for each limit of a run."""
    if found.limit in view.exhausted:
        return []
    event = BudgetExhausted(scope="run", limit=found.limit, used=found.used, cap=found.cap)
    return [Draft(ids.MAIN, event)]


def settle(view: View, about: str, now: datetime) -> list[Draft]:
    """A finished attempt gives its blocks back; what its recorded calls used stays spent."""
    if about not in view.finished:
        return []
    return [
        _settled(view, grant)
        for grant in view.grants_of.get(about, ())
        if grant in view.open_blocks
    ]


def _settled(view: View, grant: str) -> Draft:
    used = view.used_by(grant)
    event = BudgetSettled(
        grant=grant,
        tokens=used.tokens,
        calls=used.calls,
        usd=used.usd if used.priced else None,
    )
    return Draft(grant, event, view.grants[grant].epoch)


def report(view: View, now: datetime) -> dict[str, object]:
    """What an organism may know: the state, and both sides of every cap."""
    caps, seconds = view.caps, view.wall_seconds(now)
    used = {
        "tokens": view.spent.tokens,
        "calls": view.spent.calls,
        "wall_seconds": int(seconds),
    }
    limits = {
        name: cap
        for name, cap in (
            ("tokens", caps.tokens), ("calls", caps.calls), ("wall_seconds", caps.wall_seconds)
        )
        if cap is not None
    }  # fmt: skip
    parts = [used[name] / max(cap, 1) for name, cap in limits.items()]
    if caps.usd is not None:
        parts.append(float(view.spent.usd / max(caps.usd, Decimal("0.01"))))
    return {"state": _state(max(parts, default=0.0)), "used": used, "limits": limits}


def _state(part: float) -> str:
    return "CRITICAL" if part >= CRITICAL else "TIGHT" if part >= TIGHT else "NORMAL"
