"""Fetches public pages: the address that was checked is the one that is connected to."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple
from urllib.parse import urljoin

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from services.broker.core import egress
from services.broker.core.egress import Refusal, Target

PAGE_BYTES = 250_000
SECONDS = 20.0
REDIRECTS = 5
REDIRECTING = (301, 302, 303, 307, 308)
TEXTUAL = ("text/", "application/json", "application/xml", "application/xhtml+xml")
HEADERS = {"User-Agent": "kadath", "Accept-Encoding": "identity"}

Lookup = Callable[[str, int], Awaitable[list[str]]]


class Page(NamedTuple):
    """`content` is at most PAGE_BYTES; `truncated` where there was more."""

    url: str
    status: int
    kind: str
    charset: str
    content: bytes
    truncated: bool


class Refused(Exception):
    """Policy or the address stands against it; `refusal` says what."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


class Unreachable(Exception):
    """The other side did not answer as it should; nobody refused anything."""


class _Pinned(AbstractResolver):
    """Each name is looked up once for a connection, and every address of it must be public."""

    def __init__(self, lookup: Lookup, public: Callable[[str], bool]) -> None:
        self._lookup, self._public = lookup, public

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._lookup(host, port)
        if any(not self._public(address) for address in found):
            raise Refused(Refusal(host[:255], port, "its address is not public"))
        return [_result(host, address, port) for address in found]

    async def close(self) -> None:
        """Nothing is held."""


def _result(host: str, address: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return ResolveResult(
        hostname=host, host=address, port=port, family=family, proto=0,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )  # fmt: skip


async def look_up(host: str, port: int) -> list[str]:
    """The system's resolver: it also knows the odd spellings of an address."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


class Fetcher:
    """One session without cookies, proxies or kept connections."""

    def __init__(
        self,
        lookup: Lookup = look_up,
        public: Callable[[str], bool] = egress.public,
        seconds: float = SECONDS,
    ) -> None:
        self._resolver = _Pinned(lookup, public)
        self._seconds = seconds
        self._made: aiohttp.ClientSession | None = None

    async def fetch(self, url: str, hosts: Iterable[str]) -> Page:
        """Follow a few redirects, each judged anew. Raises `Refused`, `Unreachable`."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._follow(url, tuple(hosts))
        except TimeoutError:
            raise Unreachable(f"no whole answer within {self._seconds:g} s") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise Unreachable(f"{type(error).__name__}: {error}"[:300]) from error

    async def close(self) -> None:
        if self._made is not None:
            await self._made.close()

    async def _follow(self, url: str, hosts: tuple[str, ...]) -> Page:
        for _ in range(REDIRECTS + 1):
            target = egress.target(url, hosts)
            if isinstance(target, Refusal):
                raise Refused(target)
            async with self._session.get(target.url, allow_redirects=False) as response:
                place = response.headers.get("Location")
                if response.status not in REDIRECTING or not place:
                    return await _read(response, target)
                url = urljoin(target.url, place)
        raise Unreachable(f"more than {REDIRECTS} redirects")

    @property
    def _session(self) -> aiohttp.ClientSession:
        if self._made is None:
            connector = aiohttp.TCPConnector(
                resolver=self._resolver, use_dns_cache=False, force_close=True, limit=32
            )
            self._made = aiohttp.ClientSession(
                connector=connector, headers=HEADERS, cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False, trust_env=False,
            )  # fmt: skip
        return self._made


async def _read(response: aiohttp.ClientResponse, target: Target) -> Page:
    """Text-like types only, and never more than a page's worth."""
    kind = response.content_type.lower()
    if not kind.startswith(TEXTUAL) and not kind.endswith(("+json", "+xml")):
        raise Unreachable(f"{kind} is not text")
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Unreachable("the answer is encoded though nobody asked for it")
    content = b""
    async for part in response.content.iter_chunked(1 << 16):
        content += part
        if len(content) > PAGE_BYTES:
            break
    return Page(
        str(response.url), response.status, kind, response.charset or "utf-8",
        content[:PAGE_BYTES], len(content) > PAGE_BYTES,
    )  # fmt: skip
