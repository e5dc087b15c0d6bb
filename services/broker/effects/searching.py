"""Web search: a SearXNG endpoint of the operator, else a folder of texts on this machine."""

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import aiohttp

from services.broker.core.clean import clean

SECONDS = 20.0
ANSWER_BYTES = 4 << 20
FILE_BYTES = 1 << 20
SUFFIXES = {".txt", ".md", ".rst", ".html", ".htm", ".json", ".csv"}
SCHEME = "corpus:"


class Result(NamedTuple):
    title: str
    url: str
    snippet: str


class SearchFailed(Exception):
    """The engine did not answer as it should."""


class Engine(Protocol):
    """Where a query goes."""

    async def search(self, query: str, limit: int) -> list[Result]:
        """Best first. Raises `SearchFailed`."""
        ...

    async def close(self) -> None: ...


class SearXNG:
    """`GET /search?format=json`: JSON must be switched on there, else it answers 403."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/") + "/search"
        self._session: aiohttp.ClientSession | None = None

    async def search(self, query: str, limit: int) -> list[Result]:
        self._session = self._session or aiohttp.ClientSession(trust_env=False)
        try:
            async with asyncio.timeout(SECONDS):
                found = await self._ask(self._session, query)
        except (aiohttp.ClientError, OSError, ValueError, TimeoutError) as error:
            raise SearchFailed(f"{type(error).__name__}: {error}"[:300]) from error
        return [_result(item) for item in found if isinstance(item, dict)][:limit]

    async def _ask(self, session: aiohttp.ClientSession, query: str) -> list[Any]:
        async with session.get(self._url, params={"q": query, "format": "json"}) as response:
            if response.status == 403:
                raise ValueError("status 403: its settings must list json among search.formats")
            if response.status != 200:
                raise ValueError(f"status {response.status}")
            body = await response.content.read(ANSWER_BYTES)
            while not response.content.at_eof() and len(body) < ANSWER_BYTES:
                body += await response.content.read(ANSWER_BYTES)
        parsed = json.loads(body)
        found = parsed.get("results") if isinstance(parsed, dict) else None
        if not isinstance(found, list):
            raise ValueError("no list of results")
        return found

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


def _result(item: dict[str, Any]) -> Result:
    title, url, snippet = (item.get(key) or "" for key in ("title", "url", "content"))
    return Result(clean(str(title), 300), clean(str(url), 2000), clean(str(snippet), 1000))


class Corpus:
    """Full text over the files of a folder, read once; a result's URL is `corpus:<path>`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._index: sqlite3.Connection | None = None

    async def search(self, query: str, limit: int) -> list[Result]:
        words = " OR ".join(f'"{word}"' for word in _words(query))
        rows = self._db.execute(
            "select title, url, snippet(texts, 2, '', '', ' … ', 40) from texts"
            " where texts match ? order by rank limit ?",
            (words, limit),
        )
        return [Result(*row) for row in rows] if words else []

    def read(self, url: str) -> str | None:
        """The text of a result; None for what is not in the index, wherever it may lie."""
        row = self._db.execute("select body from texts where url = ?", (url,)).fetchone()
        return row[0] if row else None

    async def close(self) -> None:
        if self._index is not None:
            self._index.close()

    @property
    def _db(self) -> sqlite3.Connection:
        if self._index is None:
            self._index = sqlite3.connect(":memory:")
            self._index.execute(
                "create virtual table texts using fts5(title, url unindexed, body,"
                " tokenize = 'unicode61')"
            )
            self._index.executemany("insert into texts values (?, ?, ?)", _texts(self._folder))
        return self._index


def _words(query: str) -> list[str]:
    return ["".join(filter(str.isalnum, word)) or "0" for word in query.split()][:32]


def _texts(folder: Path) -> Iterator[tuple[str, str, str]]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in SUFFIXES and path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                body = file.read(FILE_BYTES).decode("utf-8", "replace")
            yield path.stem, SCHEME + str(path.relative_to(folder)), clean(body, FILE_BYTES)
