"""The right of one attempt to use the gateway. Owner: broker. Id: the grant."""

from datetime import datetime

from schemas.base import Event


class GrantIssued(Event):
    """Never holds a token: the token is an HMAC of the grant id under the broker's key."""

    type = "grant.issued"
    grant: str
    attempt: str
    agent: str
    genome: str
    scopes: tuple[str, ...]
    expires_at: datetime
