"""One HTTP request to an OpenAI-compatible server, told as what it brought."""

import asyncio
import email.utils
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

import aiohttp

from services.broker.core.answer import Tried
from services.kit import edges

MAX_ANSWER_BYTES = 8 << 20
FAULT = "x-kadath-fault"
COST = "x-kadath-cost"


class Provider:
    """A thin client with one pool of connections; `socket` reaches a server on this machine."""

    def __init__(self, socket: str | None = None) -> None:
        self._socket = socket
        self._session: aiohttp.ClientSession | None = None

    async def send(
        self, api_base: str, body: bytes, headers: Mapping[str, str], seconds: float
    ) -> Tried:
        """Never raises for what the other side does. A fault's id is kept once headers came."""
        seen: dict[str, str] = {}
        received = bytearray()
        try:
            async with asyncio.timeout(seconds):
                return await self._exchange(api_base, body, headers, seen, received)
        except TimeoutError:
            return Tried(
                trouble="timeout", detail=f"no answer in {seconds:.1f} s", fault=seen.get(FAULT)
            )
        except aiohttp.ClientPayloadError as error:
            return Tried(
                status=int(seen["status"]),
                body=bytes(received),
                complete=False,
                detail=str(error),
                fault=seen.get(FAULT),
            )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            detail = f"{type(error).__name__}: {error}"
            return Tried(trouble="connection", detail=detail, fault=seen.get(FAULT))

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _exchange(
        self,
        api_base: str,
        body: bytes,
        headers: Mapping[str, str],
        seen: dict[str, str],
        received: bytearray,
    ) -> Tried:
        url = f"{api_base.rstrip('/')}/chat/completions"
        async with self._opened().post(url, data=body, headers=headers) as response:
            seen["status"] = str(response.status)
            if FAULT in response.headers:
                seen[FAULT] = response.headers[FAULT]
            async for chunk in response.content.iter_any():
                received += chunk
                if len(received) > MAX_ANSWER_BYTES:
                    raise ValueError(f"the answer has more than {MAX_ANSWER_BYTES} bytes")
            return Tried(
                status=response.status,
                body=bytes(received),
                retry_after=_seconds(response.headers.get("Retry-After")),
                fault=seen.get(FAULT),
                cost=_price(response.headers.get(COST)),
            )

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = (
                aiohttp.UnixConnector(path=self._socket, limit=0)
                if self._socket
                else aiohttp.TCPConnector(limit=0)
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                timeout=aiohttp.ClientTimeout(total=None),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"Content-Type": "application/json"},
            )
        return self._session


def _price(text: str | None) -> Decimal | None:
    try:
        return Decimal(text) if text else None
    except InvalidOperation:
        return None


def _seconds(text: str | None) -> float | None:
    """Retry-After: seconds or an HTTP date."""
    if text is None:
        return None
    try:
        return max(float(text), 0.0)
    except ValueError:
        pass
    try:
        return max(email.utils.parsedate_to_datetime(text).timestamp() - edges.unix(), 0.0)
    except ValueError:
        return None
