"""What agents remember and tell each other. Owner: broker. Id: the record."""

from typing import Annotated, Literal

from pydantic import Field

from schemas.base import Event
from schemas.refs import Sha256

Visibility = Literal["own", "population"]


class MemoryPublished(Event):
    """`content_sha` collapses exact repeats of one owner and kind."""

    type = "memory.published"
    record: str
    agent: str
    kind: str
    summary: Annotated[str, Field(max_length=2000)]
    body: Annotated[str, Field(max_length=8000)] = ""
    evidence_refs: tuple[str, ...] = ()
    visibility: Visibility
    genome: Sha256 | None = None
    attempt: str | None = None
    content_sha: Sha256


class MemoryRated(Event):
    type = "memory.rated"
    record: str
    rater: str
    value: Literal[-1, 1]
