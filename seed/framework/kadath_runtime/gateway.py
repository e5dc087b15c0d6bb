"""The only way out: HTTP to the broker's relay, with the token in the Authorization header."""

import http.client
import json
from typing import Any, NamedTuple

from kadath_runtime.records import clean

MAX_REPLY_BYTES = 64 * 1024 * 1024
SIDE_CALL_SECONDS = 5.0


class Unreachable(Exception):
    """No usable reply came: nobody listens, the connection broke, or the reply is too large."""


class Reply(NamedTuple):
    """A status and a body that is parsed where it is JSON."""

    status: int
    body: Any
    retry_after: float | None = None


class Gateway:
    """Requests to the base URL's host; one connection each, so a broken one harms nothing else."""

    def __init__(self, base_url: str, token: str):
        host = base_url.removeprefix("http://").partition("/")[0]
        self._host = host
        self.offline = False
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def request(
        self, method: str, path: str, body: Any = None, timeout: float = SIDE_CALL_SECONDS
    ) -> Reply:
        """One exchange; every status is returned, only a missing reply raises."""
        if self.offline:
            raise Unreachable("this attempt is ending")
        connection = http.client.HTTPConnection(self._host, timeout=max(0.05, timeout))
        payload = None if body is None else json.dumps(clean(body)).encode()
        try:
            connection.request(method, path, payload, self._headers)
            response = connection.getresponse()
            content = response.read(MAX_REPLY_BYTES + 1)
            retry_after = response.headers.get("Retry-After")
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Unreachable(f"{type(error).__name__}: {error}") from error
        finally:
            connection.close()
        if len(content) > MAX_REPLY_BYTES:
            raise Unreachable(f"the reply is larger than {MAX_REPLY_BYTES} bytes")
        return Reply(response.status, _parsed(content), _seconds(retry_after))

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The body of a successful reply, or None: for what an organism can do without."""
        try:
            reply = self.request(method, path, body)
        except Unreachable:
            return None
        return reply.body if 200 <= reply.status < 300 else None


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content[:2000].decode("utf-8", "replace")


def _seconds(header: str | None) -> float | None:
    try:
        return max(0.0, float(header)) if header else None
    except ValueError:
        return None
