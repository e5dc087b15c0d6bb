"""What may leave for the web: capabilities, hosts, addresses. Refusals are facts."""

import ipaddress
import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from schemas import Draft, canonical, digest
from schemas.events.egress import EgressRefused
from schemas.values.capability import Capability
from services.broker.core.view import Grant, View

PORTS = {"http": 80, "https": 443}
URL_CHARS = 2000
MAX_CALLS = 300
"""Of one attempt, refused ones too; the call after that is refused without an event."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# Python's table calls these global: translation prefixes reach what lies behind the translator.
SPECIAL = tuple(
    ipaddress.ip_network(text)
    for text in (
        "192.0.0.0/24",
        "192.88.99.0/24",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "2002::/16",
        "2001::/32",
    )
)


NUMBER = re.compile(r"(?:.*\.)?(?:0x[0-9a-f]*|[0-9]+)", re.ASCII)
"""A host that ends in a number is an address to every resolver: 2130706433 is 127.0.0.1."""


class Target(NamedTuple):
    """A URL that policy lets out; its address is checked when it is connected to."""

    url: str
    host: str
    port: int


class Refusal(NamedTuple):
    host: str
    port: int | None
    reason: str


def public(text: str) -> bool:
    """Whether an address belongs to the public internet, in whatever form it is written."""
    try:
        address: Address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if any(address in network for network in SPECIAL):
        return False
    local = isinstance(address, ipaddress.IPv6Address) and address.is_site_local
    return address.is_global and not address.is_multicast and not address.is_reserved and not local


def target(url: str, hosts: Iterable[str]) -> Target | Refusal:
    """Judge a URL before any name is looked up: scheme, credentials, host, port, literal."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return Refusal("", None, "this is no URL")
    if len(url) > URL_CHARS or any(ord(char) <= 32 for char in url):
        return Refusal(host[:255], port, "this is no URL")
    if parts.scheme not in PORTS or not host:
        return Refusal(host[:255], port, "only http and https URLs can be fetched")
    if parts.username is not None or parts.password is not None:
        return Refusal(host[:255], port, "a URL must not hold credentials")
    port = port or PORTS[parts.scheme]
    if not _allowed(host, port, tuple(hosts)):
        return Refusal(host[:255], port, "the run does not allow this host and port")
    if _literal(host) and not public(host):
        return Refusal(host[:255], port, "this address is not public")
    return Target(url, host, port)


def _literal(host: str) -> bool:
    return ":" in host or NUMBER.fullmatch(host) is not None


def _allowed(host: str, port: int, patterns: tuple[str, ...]) -> bool:
    for pattern in patterns or ("*",):
        name, _, wanted = pattern.partition(":")
        ports = (int(wanted),) if wanted else tuple(PORTS.values())
        if port in ports and _matches(host, name):
            return True
    return False


def _matches(host: str, pattern: str) -> bool:
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return host.endswith(pattern[1:])
    return host == pattern


def tape_key(caller: str, capability: str, asked: str, number: int) -> str:
    """The `number`-th time that this caller asks this: equal in every replay of a run."""
    return digest(canonical([caller, capability, asked, number]))


def refuse(
    view: View, grant: Grant, capability: Capability, refusal: Refusal, key: str = ""
) -> list[Draft]:
    """The fact, once for a place on the tape, and no more facts than an attempt may make."""
    if grant.attempt in view.finished or key in view.web or exhausted(view, grant):
        return []
    event = EgressRefused(
        attempt=grant.attempt,
        capability=capability,
        host=refusal.host,
        port=refusal.port,
        reason=refusal.reason[:500],
        tape_key=key,
    )
    return [Draft(grant.attempt, event, grant.epoch)]


def exhausted(view: View, grant: Grant) -> bool:
    return view.web_calls[grant.attempt] >= MAX_CALLS
