"""References: big or sensitive things travel by hash or by name, never by value."""

from typing import Annotated

from pydantic import StringConstraints

from schemas.base import Value

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
GitId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]


class BlobRef(Value):
    """Bytes in the blob store: their SHA-256, their size in bytes, their media type."""

    sha256: Sha256
    size: int
    media: str = "application/json"


class TreeRef(BlobRef):
    """A blob that is the manifest of a file tree (see `schemas.values.tree`)."""

    media: str = "application/vnd.kadath.tree+json"


class GenomeRef(Value):
    """A registered genome: its identity and everything the identity is made of."""

    genome: Sha256
    tree: GitId
    commit: GitId
    files: TreeRef
    prompt_sha: Sha256
    runtime_sha: Sha256


class SecretRef(Value):
    """The name of a secret. Its value never enters an event, a blob or a log."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]{0,63}$")]
