"""What a parent's genome may be changed into: the one format of reflection and birth."""

from typing import Literal

from schemas.base import Value

MAX_OPERATIONS = 512
MAX_CONTENT_BYTES = 32 * 1024 * 1024
MAX_PROMPT_BYTES = 2 * 1024 * 1024


class FileEdit(Value):
    """Write `text` (UTF-8) to `path`, replacing what is there."""

    path: str
    text: str


class Mutation(Value):
    """A proposal against one complete parent commit. `prompt` replaces the whole system prompt."""

    action: Literal["mutate", "unchanged"]
    reason: str = ""
    prompt: str | None = None
    files: tuple[FileEdit, ...] = ()
    delete: tuple[str, ...] = ()
