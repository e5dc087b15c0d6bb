"""Faults on demand: a seeded plan that spoils some answers, for tests of those who ask.

The plan counts how often it saw a step; that count and the statistics are the server's only state.
"""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from kadath.offline.request import Json, Request

MOST_PER_STEP = 3
RETRY_FIELDS = ("repair", "rejected", "violations")


class Kind(StrEnum):
    NO_JSON = "no_json"
    TRUNCATED = "truncated"
    WRONG_TYPE = "wrong_type"
    STATUS_429 = "status_429"
    STATUS_500 = "status_500"
    EMPTY = "empty"
    SURROGATE = "surrogate"
    STALL = "stall"


@dataclass(frozen=True)
class Fault:
    """One injected fault and the id by which a test finds it again."""

    id: str
    kind: Kind
    role: str


@dataclass
class FaultPlan:
    """Which answers are spoiled: a share `rate`, at most three for one step."""

    seed: int = 0
    rate: float = 0.0
    stall_seconds: float = 20.0
    kinds: tuple[Kind, ...] = tuple(Kind)
    injected: list[Fault] = field(default_factory=list)
    _seen: Counter[str] = field(default_factory=Counter)
    _spoiled: Counter[str] = field(default_factory=Counter)

    def next(self, request: Request) -> Fault | None:
        """The fault for this request, if it is its turn."""
        step = step_of(request)
        self._seen[step] += 1
        mark = hashlib.sha256(f"{self.seed}:{step}:{self._seen[step]}".encode()).digest()
        share = int.from_bytes(mark[:4], "big") / 2**32
        if share >= self.rate or self._spoiled[step] >= MOST_PER_STEP:
            return None
        self._spoiled[step] += 1
        kind = self.kinds[mark[4] % len(self.kinds)]
        fault = Fault(f"{kind}-{mark.hex()[10:22]}", kind, request.role)
        self.injected.append(fault)
        return fault


def plan_of(found: Json) -> FaultPlan:
    """The plan in a JSON object."""
    return FaultPlan(
        seed=int(found.get("seed", 0)),
        rate=float(found.get("rate", 0.3)),
        stall_seconds=float(found.get("stall_seconds", 20.0)),
        kinds=tuple(Kind(kind) for kind in found.get("kinds", list(Kind))),
    )


def step_of(request: Request) -> str:
    """The same for a request and its retries: what a retry adds is left out."""
    if request.schema:
        asked = {k: v for k, v in request.question.items() if k not in RETRY_FIELDS}
        content: object = asked or [message.text for message in request.messages[:2]]
    else:
        # The conversation grows with every failed reply; its beginning stays.
        content = [message.text for message in request.messages[:2]]
    text = json.dumps([request.role, content], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def spoiled(kind: Kind, text: str) -> tuple[str, str]:
    """The text after the fault, and how it says it ended."""
    match kind:
        case Kind.NO_JSON:
            return "I would rather talk about something else.", "stop"
        case Kind.TRUNCATED:
            return text[: len(text) // 2], "length"
        case Kind.WRONG_TYPE:
            return "[17]", "stop"
        case Kind.EMPTY:
            return "", "stop"
        case Kind.SURROGATE:
            return text[: len(text) // 2] + "\ud800" + text[len(text) // 2 :], "stop"
        case _:
            return text, "stop"
