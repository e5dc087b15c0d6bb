"""Fetching from servers of the test, which play the public internet and what lies behind it."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from services.broker.effects.fetching import (
    PAGE_BYTES,
    Fetcher,
    Page,
    Refused,
    Unreachable,
    look_up,
)
from tests.support.loop import go

PUBLIC, PRIVATE = "127.0.0.1", "127.0.0.2"
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Names:
    """A name server of the test: each name has its answers, the last for ever."""

    def __init__(self, **answers: list[str]) -> None:
        self.answers = {name.replace("_", "."): list(found) for name, found in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        found = self.answers.get(host)
        if found is None:
            return await look_up(host, port)
        return [found.pop(0) if len(found) > 1 else found[0]]


class Server:
    """Listens on both addresses and keeps what it was asked, by address."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        self.answer: Answer = plain
        self.port = 0

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        assert request.transport is not None
        self.seen.append((request.transport.get_extra_info("sockname")[0], request.path))
        assert isinstance(request, web.BaseRequest)
        return await self.answer(request)  # type: ignore[arg-type]


async def plain(request: web.Request) -> web.StreamResponse:
    return web.Response(text="hello")


def to(place: str) -> Answer:
    async def redirect(request: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": place})

    return redirect


@asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    server = Server()
    runner = web.ServerRunner(web.Server(server))
    await runner.setup()
    await (first := web.TCPSite(runner, PUBLIC, 0)).start()
    assert first._server is not None
    server.port = first._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    await web.TCPSite(runner, PRIVATE, server.port).start()
    try:
        yield server
    finally:
        await runner.cleanup()


def fetched(
    url: str, names: Names, answer: Answer = plain, seconds: float = 5.0
) -> tuple[Page | Exception, Server, float]:
    """One fetch of `url`, where PORT stands for the server's; only PUBLIC counts as public."""

    async def scene() -> tuple[Page | Exception, Server, float]:
        async with serving() as server:
            server.answer = answer
            fetcher = Fetcher(names, PUBLIC.__eq__, seconds)
            began = time.monotonic()
            try:
                found: Page | Exception = await fetcher.fetch(
                    url.replace("PORT", str(server.port)), (f"*:{server.port}", "*")
                )
            except (Refused, Unreachable) as error:
                found = error
            await fetcher.close()
            return found, server, time.monotonic() - began

    return go(scene())


def test_a_public_page_is_read() -> None:
    page, server, _ = fetched("http://good.test:PORT/x", Names(good_test=[PUBLIC]))
    assert isinstance(page, Page) and page.content == b"hello" and not page.truncated
    assert server.seen == [(PUBLIC, "/x")]


def test_a_name_that_is_private_is_refused_before_a_connection() -> None:
    found, server, _ = fetched("http://bad.test:PORT/", Names(bad_test=[PRIVATE]))
    assert isinstance(found, Refused) and found.refusal.host == "bad.test" and not server.seen


def test_dns_rebinding_finds_no_second_lookup() -> None:
    """Public at the check and private a moment later: what was checked is connected to."""
    names = Names(rebind_test=[PUBLIC, PRIVATE])
    page, server, _ = fetched("http://rebind.test:PORT/", names)
    assert isinstance(page, Page) and server.seen == [(PUBLIC, "/")]
    assert names.asked == ["rebind.test"]


def test_a_name_with_one_private_address_among_public_ones_is_refused() -> None:
    async def lookup(host: str, port: int) -> list[str]:
        return [PUBLIC, PRIVATE]

    async def scene() -> Exception:
        with pytest.raises(Refused) as error:
            await Fetcher(lookup, PUBLIC.__eq__).fetch("http://both.test/", ())
        return error.value

    assert "not public" in str(go(scene()))


@pytest.mark.parametrize(
    "place",
    [
        "http://bad.test:PORT/",
        "http://127.0.0.2:PORT/",
        "http://[::ffff:127.0.0.2]:PORT/",
        "http://2130706434:PORT/",
        "http://0x7f000002:PORT/",
        "http://0177.0.0.2:PORT/",
        "http://user:word@good.test:PORT/",
        "file:///etc/passwd",
        "http://good.test:1/",
    ],
)
def test_a_redirect_is_judged_like_the_first_url(place: str) -> None:
    """A private name, a literal, decimal, hexadecimal and mapped forms, credentials, a port."""
    names = Names(good_test=[PUBLIC], bad_test=[PRIVATE])

    async def redirect(request: web.Request) -> web.StreamResponse:
        port = request.url.port
        return web.Response(status=302, headers={"Location": place.replace("PORT", str(port))})

    found, server, _ = fetched("http://good.test:PORT/", names, redirect)
    assert isinstance(found, Refused), found
    assert [address for address, _ in server.seen] == [PUBLIC]


@pytest.mark.parametrize("host", ["2130706434", "0x7f000002", "0177.0.0.2", "127.2"])
def test_odd_spellings_of_an_address_are_refused_without_a_lookup(host: str) -> None:
    names = Names()
    found, server, _ = fetched(f"http://{host}:PORT/", names)
    assert isinstance(found, Refused) and not server.seen and not names.asked


def test_ten_gibibytes_are_a_page_s_worth() -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        response.content_length = 10 << 30
        await response.prepare(request)
        while True:
            await response.write(bytes(1 << 20))

    page, _, took = fetched("http://good.test:PORT/", Names(good_test=[PUBLIC]), endless)
    assert isinstance(page, Page) and page.truncated and len(page.content) == PAGE_BYTES
    assert took < 4


def test_a_slow_drip_ends_at_the_time_limit() -> None:
    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        for _ in range(200):
            await response.write(b"x")
            await asyncio.sleep(0.1)
        return response

    found, _, took = fetched("http://good.test:PORT/", Names(good_test=[PUBLIC]), drip, 1.0)
    assert isinstance(found, Unreachable) and took < 3


def test_a_circle_of_redirects_ends() -> None:
    found, server, _ = fetched("http://good.test:PORT/", Names(good_test=[PUBLIC]), to("/again"))
    assert isinstance(found, Unreachable) and len(server.seen) == 6


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "application/octet-stream"},
        {"Content-Type": "image/png"},
        {"Content-Type": "text/plain", "Content-Encoding": "gzip"},
    ],
)
def test_what_is_not_plain_text_is_left(headers: dict[str, str]) -> None:
    """An encoded answer that nobody asked for may be a bomb: it is not unpacked."""

    async def other(request: web.Request) -> web.StreamResponse:
        return web.Response(body=b"\x00" * 100, headers=headers)

    found, _, _ = fetched("http://good.test:PORT/", Names(good_test=[PUBLIC]), other)
    assert isinstance(found, Unreachable)


def test_no_cookie_goes_from_one_fetch_to_the_next() -> None:
    """Two organisms share no session."""
    cookies = []

    async def cookie(request: web.Request) -> web.StreamResponse:
        cookies.append(request.headers.get("Cookie"))
        return web.Response(text="x", headers={"Set-Cookie": "who=a0001"})

    async def scene() -> None:
        async with serving() as server:
            server.answer = cookie
            fetcher = Fetcher(Names(good_test=[PUBLIC]), PUBLIC.__eq__)
            for _ in range(2):
                await fetcher.fetch(f"http://good.test:{server.port}/", (f"*:{server.port}",))
            await fetcher.close()

    go(scene())
    assert cookies == [None, None]
