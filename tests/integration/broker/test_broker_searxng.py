"""Search against a real SearXNG."""

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from services.broker.effects.searching import SearchFailed
from services.broker.effects.web import SEARXNG, Web
from tests.integration.broker.stage import Stage, organism
from tests.support import searxng

PAGES = {
    "https://one.example/hexagon": ("Hexagonal packing", "Dense circles, Größe 2.6"),
    "https://two.example/square": ("Square packing", "Simple circles"),
}


class Hits(BaseHTTPRequestHandler):
    """The engine behind SearXNG: pages that hold a word of the query."""

    def do_GET(self) -> None:
        words = parse_qs(urlsplit(self.path).query)["q"][0].lower().split()
        hits = [
            {"url": url, "title": title, "text": text}
            for url, (title, text) in PAGES.items()
            if any(word in f"{title} {text}".lower() for word in words)
        ]
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({"hits": hits}).encode())

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture(scope="module")
def engine() -> Iterator[str]:
    if why := searxng.trouble():
        pytest.skip(why)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hits)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/find?q={{query}}"
    server.shutdown()


def test_an_organism_searches_with_searxng(
    stage: Stage, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the organism's socket through SearXNG to its engine and back, and on record."""

    async def story() -> None:
        await stage.open(None, tools=("web_search",))
        async with organism(await stage.token()) as http:
            answer = await http.get("/web/search", params={"q": "größe hexagonal", "limit": 3})
            assert answer.status == 200, await answer.text()
            (found,) = (await answer.json())["results"]
            assert found == {
                "title": "Hexagonal packing",
                "url": "https://one.example/hexagon",
                "snippet": "Dense circles, Größe 2.6",
            }
            both = await (await http.get("/web/search?q=circles&limit=1")).json()
            assert len(both["results"]) == 1
            none = await (await http.get("/web/search?q=zzz")).json()
            assert none["results"] == []
        assert len(await stage.events("egress.answered")) == 3

    with searxng.searxng(tmp_path, engine, ("json",)) as url:
        monkeypatch.setenv(SEARXNG, url)
        monkeypatch.setitem(stage.kernel.context("broker").resources, "web", Web())
        stage.kernel.run(story())


def test_a_searxng_without_json_says_so(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        found = Web()
        with pytest.raises(SearchFailed, match="403.*search.formats"):
            await found.search("circles", 3)
        await found.close()

    with searxng.searxng(tmp_path, engine, ()) as url:
        monkeypatch.setenv(SEARXNG, url)
        asyncio.run(story())
