"""The web as organisms reach it, and what of it this kernel can offer."""

from pathlib import Path
from typing import Any

from schemas.values.capability import Capability
from services.broker.core import page
from services.broker.core.clean import clean
from services.broker.effects.fetching import PAGE_BYTES, Fetcher, Page, Unreachable
from services.broker.effects.searching import SCHEME, Corpus, Engine, SearXNG
from services.kit import edges

PROVIDED: tuple[Capability, ...] = ("web_search", "web_fetch")
SEARXNG, CORPUS = "KADATH_SEARXNG_URL", "KADATH_CORPUS"


class Web:
    """A search engine where one is configured, and a fetcher."""

    def __init__(self, fetcher: Fetcher | None = None) -> None:
        url, folder = edges.environment(SEARXNG), edges.environment(CORPUS)
        self.corpus = Corpus(Path(folder)) if folder else None
        self.engine: Engine | None = SearXNG(url) if url else self.corpus
        self._fetcher = fetcher or Fetcher()

    def missing(self, tools: tuple[str, ...]) -> str:
        """What an approved tool needs and this kernel does not have; empty: nothing."""
        if absent := sorted(set(tools) - set(PROVIDED)):
            return f"this kernel does not have {', '.join(absent)}"
        if "web_search" in tools and self.engine is None:
            return f"web_search needs a SearXNG ({SEARXNG}) or a folder of texts ({CORPUS})"
        return ""

    async def search(self, query: str, limit: int) -> dict[str, Any]:
        """Raises `SearchFailed`."""
        if self.engine is None:
            return {"results": []}
        found = await self.engine.search(query, limit)
        return {"results": [result._asdict() for result in found]}

    async def fetch(self, url: str, hosts: tuple[str, ...]) -> dict[str, Any]:
        """Raises `Refused` and `Unreachable`."""
        if url.startswith(SCHEME):
            return self._from_corpus(url)
        return _shown(await self._fetcher.fetch(url, hosts))

    async def close(self) -> None:
        await self._fetcher.close()
        if self.engine is not None:
            await self.engine.close()

    def _from_corpus(self, url: str) -> dict[str, Any]:
        text = self.corpus.read(url) if self.corpus else None
        if text is None:
            raise Unreachable("there is no such text in the corpus")
        shown = {"url": url, "status": 200, "type": "text/plain", "text": text[:PAGE_BYTES]}
        return shown | {"truncated": len(text) > PAGE_BYTES}


def _shown(found: Page) -> dict[str, Any]:
    try:
        text = found.content.decode(found.charset, "replace")
    except LookupError:
        text = found.content.decode("utf-8", "replace")
    if "html" in found.kind:
        text = page.text_of(text)
    return {
        "url": found.url,
        "status": found.status,
        "type": found.kind,
        "text": clean(text, PAGE_BYTES),
        "truncated": found.truncated,
    }
