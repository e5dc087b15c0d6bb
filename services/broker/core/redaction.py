"""Takes secrets out of model traffic before it is kept: by value, by key name, by shape."""

import base64
import functools
import json
import re
from collections.abc import Mapping
from urllib.parse import quote

SHORTEST = 8
SENSITIVE = re.compile(
    r"^(authorization|proxy[-_]authorization|cookie|set[-_]cookie|password|passwd|passphrase"
    r"|secret|client[-_]?secret|api[-_]?key|x[-_]api[-_]key|private[-_]?key"
    r"|(access|refresh|auth|bearer|session|id)?[-_]?token|credentials?)$",
    re.IGNORECASE,
)
SHAPES = (
    (("earer ", "EARER "), re.compile(r"(?i:\bbearer\s+)[A-Za-z0-9._~+/=-]{16,}")),
    (("sk-",), re.compile(r"\bsk-[A-Za-z0-9_-]{20,}")),
    (("AKIA",), re.compile(r"\bAKIA[0-9A-Z]{16}\b")),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), re.compile(r"\bgh[pousr]_[A-Za-z0-9]{30,}")),
)
"""Each match holds one of the parts: to look for those is far cheaper than the expression."""
BEGIN, END, PRIVATE = "-----BEGIN ", "-----END ", "PRIVATE KEY-----"
LABEL_CHARS = 60


class Redactor:
    """Knows the values to look for, in plain and in their usual encodings."""

    def __init__(self, values: Mapping[str, str]) -> None:
        found = {form: name for name, value in values.items() for form in _forms(value)}
        # The longest first: a secret may be part of another one.
        self._forms = sorted(found.items(), key=lambda pair: -len(pair[0]))

    def text(self, text: str) -> str:
        """Every known value by its name, every well-known shape by a mark."""
        if len(text) < SHORTEST:
            return text
        for form, name in self._forms:
            if form in text:
                text = text.replace(form, f"[secret {name}]")
        for parts, shape in SHAPES:
            if any(part in text for part in parts):
                text = shape.sub("[secret]", text)
        return _without_private_keys(text) if PRIVATE in text else text

    def value(self, value: object) -> object:
        """A JSON value without secrets. Numbers stay: a counter is never a secret."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self._member(key, item) for key, item in value.items()}
        return value

    def _member(self, key: str, item: object) -> object:
        if isinstance(item, str) and item and _sensitive(key):
            return "[secret]"
        return self.value(item)


@functools.lru_cache(4096)
def _sensitive(key: str) -> bool:
    return SENSITIVE.match(key) is not None


def _without_private_keys(text: str) -> str:
    """One pass: an expression would be quadratic on text that begins many and ends none."""
    kept, at = [], 0
    while (begin := text.find(BEGIN, at)) >= 0:
        label = text[begin + len(BEGIN) : begin + LABEL_CHARS]
        if not label.partition("-----")[0].endswith("PRIVATE KEY"):
            kept.append(text[at : begin + len(BEGIN)])
            at = begin + len(BEGIN)
            continue
        kept.append(text[at:begin] + "[secret private key]")
        end = text.find(END, begin)
        close = text.find(PRIVATE, end) if end >= 0 else -1
        at = close + len(PRIVATE) if close >= 0 else len(text)
    return "".join(kept) + text[at:]


def _forms(value: str) -> set[str]:
    if len(value) < SHORTEST:
        return set()
    raw = value.encode(errors="surrogatepass")
    encoded = base64.b64encode(raw).decode().rstrip("=")
    escaped = {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    return escaped | {value, quote(value, safe="", errors="replace"), encoded, raw.hex()}
