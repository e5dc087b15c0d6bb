"""Tools of the reflection phase: read what happened, look at the elites, propose one mutation."""

import unicodedata
from pathlib import Path
from typing import Any

from kadath_runtime.confine import Folder
from kadath_runtime.records import clip, read_json, write_json
from kadath_runtime.task import Places
from kadath_runtime.tools.files import HIDDEN, MAX_REPOSITORY_BYTES

MAX_OPERATIONS = 512
MAX_CONTENT_BYTES = 32 * 1024 * 1024
MAX_PROMPT_BYTES = 2 * 1024 * 1024


class Context:
    """The epoch's measured facts and the elites' source; pulled by tools, never in the prompt."""

    def __init__(self, places: Places):
        found = [
            read_json(places.inputs / name) for name in ("context/context.json", "context.json")
        ]
        self._context = next((value for value in found if isinstance(value, dict)), {})
        self._elites = places.elites

    def read_context(self) -> dict:
        """Read the facts of this epoch: your rank, score, measurements, the board, the elites."""
        return self._context

    def list_elite(self, agent: str, pattern: str = "**") -> list:
        """List the files of an elite's genome, at most 1,000 names.

        Args:
            agent: An agent named in read_context()["elites"].
            pattern: A glob or a folder; "**" means everything.
        """
        return self._elite(agent).names(pattern)

    def read_elite_file(self, agent: str, path: str) -> str:
        """Read a text file of an elite's genome, at most 500,000 bytes.

        Args:
            agent: An agent named in read_context()["elites"].
            path: Relative path as list_elite gives it.
        """
        return self._elite(agent).read(path)

    def _elite(self, agent: str) -> Folder:
        named = [item for item in self._context.get("elites") or [] if isinstance(item, dict)]
        tree = next((item.get("tree") for item in named if item.get("agent") == agent), None)
        folders = [Path(str(tree))] if tree else []
        if agent.isalnum():
            folders.append(self._elites / agent)
        root = next((folder for folder in folders if folder.is_dir()), None)
        if root is None:
            known = ", ".join(str(item.get("agent")) for item in named) or "none"
            raise ValueError(f"there is no elite {agent!r}; there are {known}")
        return Folder(root, MAX_REPOSITORY_BYTES, HIDDEN)


class Proposal:
    """The one mutation of this reflection; the last proposal stands."""

    def __init__(self, path: Path):
        self._path = path
        self.made = False

    def propose_mutation(
        self,
        action: str,
        reason: str,
        files: dict = {},  # noqa: B006
        delete: list = [],  # noqa: B006
        prompt: str = None,  # type: ignore[assignment]
    ) -> str:
        """Propose how your genome should change. Call it once, at the end.

        The proposal is tried before it is accepted.

        Args:
            action: "mutate" with files, delete or prompt, or "unchanged".
            reason: Why this should score better, with the facts it rests on.
            files: Complete new contents by path, like {"solver.py": "..."}; at most 512 operations.
            delete: Paths of files to remove.
            prompt: A whole new SYSTEM_PROMPT.md, or None to keep it.
        """
        if action not in ("mutate", "unchanged"):
            raise ValueError('action is "mutate" or "unchanged"')
        mutation: dict[str, Any] = {"action": action, "reason": clip(str(reason), 4000)}
        if action == "mutate":
            mutation |= _changes(files or {}, delete or [], prompt)
        write_json(self._path, mutation)
        self.made = True
        return "proposal written"

    def settle(self) -> None:
        """Without a proposal the genome stays as it is, and says so."""
        if not self.made:
            self.propose_mutation("unchanged", "the reflection ended without a proposal")


def _changes(files: dict[str, str], delete: list[str], prompt: str | None) -> dict[str, Any]:
    if not isinstance(files, dict) or not isinstance(delete, list):
        raise ValueError("files is a dict of texts by path, delete a list of paths")
    if len(files) + len(delete) > MAX_OPERATIONS:
        raise ValueError(f"at most {MAX_OPERATIONS} file operations")
    texts = [*files.values(), *([] if prompt is None else [prompt])]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("file contents and the prompt are texts")
    if sum(len(text.encode("utf-8", "replace")) for text in files.values()) > MAX_CONTENT_BYTES:
        raise ValueError(f"at most {MAX_CONTENT_BYTES} bytes of content")
    if prompt is not None and not 0 < len(prompt.encode("utf-8", "replace")) <= MAX_PROMPT_BYTES:
        raise ValueError(f"a prompt has 1 to {MAX_PROMPT_BYTES} bytes")
    if not texts and not delete:
        raise ValueError('nothing changes: name files, delete or prompt, or propose "unchanged"')
    edits = [{"path": _path(path), "text": text} for path, text in sorted(files.items())]
    return {"prompt": prompt, "files": edits, "delete": sorted(_path(path) for path in delete)}


def _path(path: str) -> str:
    """A path inside the repository, in the one spelling the kernel accepts."""
    path = unicodedata.normalize("NFC", str(path)).removeprefix("/genome/")
    parts = path.split("/")
    forbidden = any(
        part in ("", ".", "..") or unicodedata.normalize("NFKC", part).casefold() == ".git"
        for part in parts
    )
    if forbidden or "\0" in path or "\\" in path or len(path.encode()) > 1000:
        raise ValueError(f"{path!r} is not a path inside the repository")
    return path
