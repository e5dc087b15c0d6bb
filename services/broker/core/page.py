"""A web page as text: what a reader would see, without its code."""

import re
from html.parser import HTMLParser

HIDDEN = {"script", "style", "noscript", "template", "svg"}
BLOCKS = {
    "p", "div", "br", "li", "ul", "ol", "tr", "table", "section", "article", "header", "footer",
    "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "hr", "title", "dt", "dd",
}  # fmt: skip
BLANKS = re.compile(r"[ \t\f\v\r]+")
LINES = re.compile(r"\n\s*\n\s*")


def text_of(html: str) -> str:
    """Blocks become lines, links keep their address in brackets. Never raises."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return LINES.sub("\n\n", BLANKS.sub(" ", "".join(reader.parts))).strip()


class _Reader(HTMLParser):
    """Collects text; a page that never closes a hidden element loses what follows it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0
        self._links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in HIDDEN:
            self._hidden += 1
        elif tag in BLOCKS:
            self.parts.append("\n")
        elif tag == "a":
            self._links.append(dict(attrs).get("href") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag in BLOCKS:
            self.parts.append("\n")
        elif tag == "a" and self._links:
            link = self._links.pop()
            if link.startswith(("http://", "https://", "/")):
                self.parts.append(f" [{link[:500]}]")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)
