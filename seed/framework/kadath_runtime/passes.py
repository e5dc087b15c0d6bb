"""What the passes of an attempt came to, and which of them counts."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from kadath_runtime.records import clip, read_json, write_json

KEPT_PASSES = 20
TAIL_CHARS = 4000
EARLIER = "From earlier epochs:\n"

Outcome = Literal["answered", "unfinished", "finalized", "failed"]


@dataclass(frozen=True)
class Pass:
    """One finished pass; `valid` means that it left a candidate."""

    number: int
    outcome: Outcome
    summary: str
    valid: bool = False
    saved: bool = False
    provisional: float | None = None


@dataclass
class Progress:
    """Survives a restart of the same attempt; a descendant sees it as done before."""

    attempt: str
    passes: int = 0
    best: Pass | None = None
    history: list[dict[str, Any]] = field(default_factory=list)
    earlier: str = ""
    begun: bool = False

    @property
    def is_new(self) -> bool:
        """Nothing of this attempt is on disk yet: it is no restart."""
        return self.passes == 0 and not self.begun

    def add(self, done: Pass, higher_is_better: bool) -> bool:
        """Record a pass; True when it is now the best."""
        self.passes = done.number
        self.history = [*self.history, asdict(done) | {"summary": clip(done.summary, 1000)}][
            -KEPT_PASSES:
        ]
        if not is_better(done, self.best, higher_is_better):
            return False
        self.best = done
        return True

    def text(self) -> str:
        """For the prompt: newest last, no clock readings."""
        lines = [self.earlier] if self.earlier else []
        for item in self.history:
            number = "" if item["provisional"] is None else f", provisional {item['provisional']:g}"
            lines.append(f"Pass {item['number']} ({item['outcome']}{number}): {item['summary']}")
        if self.best is not None:
            lines.append(f"Best so far: pass {self.best.number}.")
        return "\n".join(lines)[-TAIL_CHARS:]

    def write(self, path: Path) -> None:
        write_json(path, asdict(self))


def is_better(new: Pass, old: Pass | None, higher_is_better: bool) -> bool:
    """The better number wins; a number beats none; without numbers the last valid pass counts."""
    if not new.valid or old is None:
        return new.valid
    if new.provisional is None or old.provisional is None:
        if (new.provisional is None) != (old.provisional is None):
            return new.provisional is not None
        return new.saved >= old.saved
    return (
        new.provisional > old.provisional if higher_is_better else new.provisional < old.provisional
    )


def read(path: Path, attempt: str) -> Progress:
    """The progress of this attempt, or a new one that remembers an ancestor's."""
    found = read_json(path)
    try:
        old = Progress(**found) if isinstance(found, dict) else None
        if old is not None and old.best is not None:
            old.best = Pass(**old.best)  # type: ignore[arg-type]
        if old is None or old.attempt == attempt:
            return old or Progress(attempt)
        return Progress(
            attempt, earlier=EARLIER + old.text().removeprefix(EARLIER)[-TAIL_CHARS // 2 :]
        )
    except (TypeError, KeyError, ValueError, AttributeError):
        # An organism can write anything here; then there is no progress.
        return Progress(attempt)


def reported(answer: Any) -> float | None:
    """The number an answer reports: the answer itself, or its `provisional`."""
    value = answer.get("provisional") if isinstance(answer, dict) else answer
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e300 else None


def summarized(answer: Any) -> str:
    """What an answer says about itself."""
    text = answer.get("summary", answer) if isinstance(answer, dict) else answer
    return clip(str(text), 1000)
