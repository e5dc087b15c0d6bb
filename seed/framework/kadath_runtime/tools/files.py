"""Tools for the genome's own source (read-only) and for the workspace."""

from pathlib import Path

from kadath_runtime.confine import Folder

MAX_REPOSITORY_BYTES = 500_000
MAX_WORKSPACE_BYTES = 1_000_000
HIDDEN = frozenset({".git", "__pycache__"})


class Repository:
    """The tree this organism runs from."""

    def __init__(self, root: Path):
        self._folder = Folder(root, MAX_REPOSITORY_BYTES, HIDDEN)

    def list_repository(self, pattern: str = "**") -> list:
        """List files of your own genome: the program you are made of. At most 1,000 names.

        Args:
            pattern: A glob like "*.py" or "kadath_runtime/*", or a folder; "**" means everything.
        """
        return self._folder.names(pattern)

    def read_repository_file(self, path: str) -> str:
        """Read a text file of your own genome, at most 500,000 bytes.

        Args:
            path: Relative path as list_repository gives it, for example "organism.py".
        """
        return self._folder.read(path)


class Workspace:
    """The folder that lasts: it passes to the next epoch and to descendants."""

    def __init__(self, root: Path):
        root.mkdir(parents=True, exist_ok=True)
        self._folder = Folder(root, MAX_WORKSPACE_BYTES)

    def list_workspace(self, pattern: str = "**") -> list:
        """List files of your workspace, at most 1,000 names. Its files outlast this pass.

        Args:
            pattern: A glob such as "*.json" or "notes/*", or a folder; "**" means everything.
        """
        return self._folder.names(pattern)

    def read_workspace_file(self, path: str) -> str:
        """Read a text file of your workspace, at most 1,000,000 bytes.

        Args:
            path: Relative path inside the workspace.
        """
        return self._folder.read(path)

    def write_workspace_file(self, path: str, text: str) -> str:
        """Write a text file in your workspace, replacing what was there; folders are made.

        Args:
            path: Relative path inside the workspace.
            text: The whole new content, at most 1,000,000 bytes.
        """
        return f"{self._folder.write(path, text)} bytes written to {path}"

    def delete_workspace_file(self, path: str) -> str:
        """Delete one file of your workspace.

        Args:
            path: Relative path inside the workspace.
        """
        self._folder.delete(path)
        return f"{path} deleted"
