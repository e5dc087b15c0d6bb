"""What left the sandbox for the web, and what was not let out. Owner: broker. Id: the attempt."""

from typing import Annotated

from pydantic import Field

from schemas.base import Event
from schemas.refs import BlobRef
from schemas.values.capability import Capability

Key = Annotated[str, Field(description="equal for the same question at the same place of a tape")]


class EgressAnswered(Event):
    """`asked` is the query or the URL without secrets; `answer` the bytes that were given out."""

    type = "egress.answered"
    attempt: str
    capability: Capability
    asked: str
    answer: BlobRef
    tape_key: Key


class EgressRefused(Event):
    """`host` is empty where the refusal needed none, such as a capability that was not approved."""

    type = "egress.refused"
    attempt: str
    capability: Capability
    host: str = ""
    port: int | None = None
    reason: str
    tape_key: Key = ""
