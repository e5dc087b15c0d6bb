"""The task of this attempt and the folders it is done in."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Purpose = Literal["epoch", "reflection", "trial"]
DEFAULT_STEPS = 12
DEFAULT_SECONDS = 3600.0


@dataclass(frozen=True)
class Places:
    """`/genome`, `/input`, `/signals`, `/elites` and `/state`, which is the working folder."""

    genome: Path
    inputs: Path
    signals: Path
    elites: Path
    state: Path

    @property
    def workspace(self) -> Path:
        return self.state / "workspace"


@dataclass(frozen=True)
class Task:
    """What the kernel asks of this attempt; fields it does not name have working defaults."""

    purpose: Purpose
    attempt: str
    genome: str
    agent: str
    epoch: int
    goal: str
    objective: str
    criterion: str
    model: str
    tools: tuple[str, ...]
    passes: int
    steps: int
    finalize_at: float
    deadline_at: float
    higher_is_better: bool
    limits: dict[str, Any] = field(default_factory=dict)


def load(now: float) -> tuple[Task, Places]:
    """The task file named by the environment, and the places beside it."""
    path = Path(os.environ.get("KADATH_TASK", "/input/task.json"))
    raw = json.loads(path.read_text(encoding="utf-8"))
    root = path.parent.parent
    genome = Path(__file__).resolve().parent.parent
    places = Places(genome, path.parent, root / "signals", root / "elites", Path.cwd())
    return parsed(raw, now), places


def parsed(raw: dict[str, Any], now: float) -> Task:
    """A task from its JSON."""
    limits = raw.get("limits") or {}
    deadline = float(raw.get("deadline_at") or now + DEFAULT_SECONDS)
    return Task(
        purpose=raw.get("purpose", "epoch"),
        attempt=str(raw.get("attempt", "")),
        genome=str(raw.get("genome", "")),
        agent=str(raw.get("agent", "")),
        epoch=int(raw.get("epoch") or 0),
        goal=str(raw.get("goal", "")),
        objective=str(raw.get("objective", "")),
        criterion=_text(raw.get("criterion", "")),
        model=str(raw.get("model", "")),
        tools=tuple(raw.get("tools") or ()),
        passes=int(limits.get("passes") or 0),
        steps=int(limits.get("steps") or DEFAULT_STEPS),
        finalize_at=min(float(raw.get("finalize_at") or deadline), deadline),
        deadline_at=deadline,
        higher_is_better=bool(raw.get("higher_is_better", True)),
        limits=limits,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)
