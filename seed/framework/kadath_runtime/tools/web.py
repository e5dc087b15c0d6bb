"""The web through the broker, where the run approved it."""

from urllib.parse import urlencode

from kadath_runtime.gateway import Gateway
from kadath_runtime.records import clip
from kadath_runtime.tools.notes import accepted

SECONDS = 30.0


class Web:
    """Search and fetch; what is not public or not allowed is refused, and the refusal is kept."""

    def __init__(self, gateway: Gateway):
        self._gateway = gateway

    def search_web(self, query: str, limit: int = 5) -> list:
        """Search the web; best first.

        Each is {"title", "url", "snippet"}.

        Args:
            query: What to look for, at most 500 characters.
            limit: How many results, 1 to 10.
        """
        asked = {"q": clip(str(query), 500), "limit": max(1, min(10, int(limit)))}
        reply = self._gateway.request("GET", "/web/search?" + urlencode(asked), timeout=SECONDS)
        found = accepted(reply).get("results")
        return found if isinstance(found, list) else []

    def fetch_page(self, url: str) -> dict:
        """Read a public page or a search result as text, at most 250,000 bytes.

        The answer is {"url", "status", "type", "text", "truncated"}.

        Args:
            url: An http or https address, or the url of a search result.
        """
        asked = urlencode({"url": str(url)[:2000]})
        return accepted(self._gateway.request("GET", f"/web/page?{asked}", timeout=SECONDS))
