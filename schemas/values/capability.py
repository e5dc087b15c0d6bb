"""What an organism may be allowed beyond its own sandbox, its model and its memory."""

from typing import Annotated, Literal, get_args

from pydantic import Field

Capability = Literal["web_search", "web_fetch", "browser", "workers"]
CAPABILITIES: tuple[Capability, ...] = get_args(Capability)

HostPattern = Annotated[
    str, Field(pattern=r"^(\*|(\*\.)?[a-z0-9_]([a-z0-9._-]{0,250}[a-z0-9])?)(:[0-9]{1,5})?$")
]
"""`example.org`, `*.example.org` (subdomains only) or `*`; without a port 80 and 443 are meant."""
