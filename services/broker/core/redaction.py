"""Takes secrets out of model traffic before it is kept: by value, by key name, by shape."""

import base64
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
SHAPES = re.compile(
    r"(?i:\bbearer\s+)[A-Za-z0-9._~+/=-]{16,}|\bsk-[A-Za-z0-9_-]{20,}|\bAKIA[0-9A-Z]{16}\b"
    r"|\bgh[pousr]_[A-Za-z0-9]{30,}"
)
KEYS = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----", re.S)


class Redactor:
    """Knows the values to look for, in plain and in their usual encodings."""

    def __init__(self, values: Mapping[str, str]) -> None:
        found = {form: name for name, value in values.items() for form in _forms(value)}
        # The longest first: a secret may be part of another one.
        self._forms = sorted(found.items(), key=lambda pair: -len(pair[0]))

    def text(self, text: str) -> str:
        """Every known value by its name, every well-known shape by a mark."""
        for form, name in self._forms:
            if form in text:
                text = text.replace(form, f"[secret {name}]")
        if "-----BEGIN" in text:
            text = KEYS.sub("[secret private key]", text)
        return SHAPES.sub("[secret]", text)

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
        if isinstance(item, str) and item and SENSITIVE.match(key):
            return "[secret]"
        return self.value(item)


def _forms(value: str) -> set[str]:
    if len(value) < SHORTEST:
        return set()
    raw = value.encode(errors="surrogatepass")
    encoded = base64.b64encode(raw).decode().rstrip("=")
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return {value, escaped, quote(value, safe="", errors="replace"), encoded, raw.hex()}
