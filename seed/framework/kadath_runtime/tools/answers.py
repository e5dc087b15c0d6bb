"""Tools for results and for what is left: candidate, artifacts, remaining budget."""

import json
from pathlib import Path
from typing import Any

from kadath_runtime.budget import Budget
from kadath_runtime.confine import Folder
from kadath_runtime.records import clean, write_json

MAX_CANDIDATE_BYTES = 5_000_000
MAX_ARTIFACT_BYTES = 2_000_000


class Candidates:
    """The answer of the running pass; the file holds the best answer so far.

    As long as no pass ended with an answer, a saved one is written at once: a crash loses nothing.
    Later it waits for the end of its pass, so that a worse one never takes the better one's place.
    """

    def __init__(self, path: Path):
        self.path = path
        self.holds_best = False
        self.saved: Any = None
        self.was_saved = False

    def begin_pass(self) -> None:
        self.saved, self.was_saved = None, False

    def save_candidate(self, value: Any) -> str:
        """Save your answer to the goal; the last one saved in a pass counts. Save early and again.

        Args:
            value: Any JSON value (number, text, list, dict), at most 5,000,000 bytes as JSON.
        """
        value = clean(value)
        size = len(json.dumps(value, ensure_ascii=False).encode())
        if size > MAX_CANDIDATE_BYTES:
            raise ValueError(
                f"the value has {size} bytes as JSON, {MAX_CANDIDATE_BYTES} are allowed"
            )
        self.saved, self.was_saved = value, True
        if not self.holds_best:
            write_json(self.path, value)
        return f"candidate saved, {size} bytes"


class Artifacts:
    """Files kept as evidence."""

    def __init__(self, root: Path):
        root.mkdir(parents=True, exist_ok=True)
        self._folder = Folder(root, MAX_ARTIFACT_BYTES)

    def save_artifact(self, name: str, text: str) -> str:
        """Keep a text as evidence of your work, for example a report or a log.

        Args:
            name: A relative file name such as "report.md".
            text: The content, at most 2,000,000 bytes.
        """
        return f"{self._folder.write(name, text)} bytes kept as artifacts/{name}"


class Remaining:
    """What is left to this attempt."""

    def __init__(self, budget: Budget):
        self._budget = budget

    def remaining_budget(self) -> dict:
        """See what is left: {"state": NORMAL, TIGHT or CRITICAL, "steps", "time", "tokens"}."""
        return self._budget.remaining()
