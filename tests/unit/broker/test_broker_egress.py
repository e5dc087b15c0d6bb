"""What may leave for the web."""

import pytest

from services.broker.core import egress, page
from services.broker.core.egress import Refusal, Target

NOT_PUBLIC = [
    "127.0.0.1", "127.1.2.3", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
    "169.254.169.254", "100.64.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.7",
    "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "192.88.99.1",
    "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:7f00:1", "::127.0.0.1", "fc00::1",
    "fd12:3456::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "64:ff9b::7f00:1",
    "64:ff9b:1::1", "2002:7f00:1::", "2001:0:7f00:1::", "2001:db8::1", "100::1",
    "", "localhost", "2130706433", "0x7f000001", "127.1",
]  # fmt: skip


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_reserved_addresses_are_not_public(address: str) -> None:
    """A text that is no canonical address is not public either: it must be looked up first."""
    assert not egress.public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.215.14", "2606:4700::1", "::ffff:1.1.1.1"])
def test_public_addresses_are(address: str) -> None:
    assert egress.public(address)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://example.org/x", "http"),
        ("file:///etc/passwd", "http"),
        ("javascript:alert(1)", "http"),
        ("//example.org", "http"),
        ("http://", "http"),
        ("", "http"),
        ("http://user@example.org/", "credentials"),
        ("http://user:word@example.org/", "credentials"),
        ("http://@example.org/", "credentials"),
        ("http://example.org:22/", "host and port"),
        ("http://example.org:99999/", "no URL"),
        ("http://[::1/", "no URL"),
        ("http://exa mple.org/", "no URL"),
        ("http://example.org/\r\nHost: x", "no URL"),
        ("http://example.org/" + "x" * 2000, "no URL"),
        ("http://127.0.0.1/", "not public"),
        ("http://[::1]/", "not public"),
        ("http://[::ffff:169.254.169.254]/latest", "not public"),
        ("http://[fe80::1%25eth0]/", "not public"),
        ("HTTP://169.254.169.254./", "not public"),
    ],
)
def test_a_url_is_judged_before_any_lookup(url: str, reason: str) -> None:
    found = egress.target(url, ())
    assert isinstance(found, Refusal) and reason in found.reason


@pytest.mark.parametrize(
    ("host", "port", "hosts", "allowed"),
    [
        ("example.org", 443, (), True),
        ("example.org", 8080, (), False),
        ("example.org", 443, ("example.org",), True),
        ("EXAMPLE.org", 443, ("example.org",), True),
        ("www.example.org", 443, ("example.org",), False),
        ("www.example.org", 443, ("*.example.org",), True),
        ("example.org", 443, ("*.example.org",), False),
        ("badexample.org", 443, ("*.example.org",), False),
        ("example.org.evil.net", 443, ("example.org", "*.example.org"), False),
        ("example.org", 8080, ("example.org:8080",), True),
        ("example.org", 443, ("example.org:8080",), False),
        ("anything.net", 8080, ("*:8080",), True),
    ],
)
def test_the_run_s_list_of_hosts(host: str, port: int, hosts: tuple[str, ...], allowed: bool):
    found = egress.target(f"https://{host}:{port}/", hosts)
    assert isinstance(found, Target) is allowed


def test_a_page_as_text() -> None:
    """Code is left out, blocks become lines, links keep their address; nothing raises."""
    html = (
        "<title>T</title><script>evil()</script><p>One &amp; <a href='/x'>two</a>"
        "<p>three<style>p{}</style><br>four</div></b><![CDATA[x"
    )
    text = page.text_of(html)
    assert "evil" not in text and "p{}" not in text
    assert [line.strip() for line in text.splitlines() if line.strip()][:4] == [
        "T", "One & two [/x]", "three", "four",
    ]  # fmt: skip
    assert page.text_of("<" * 1000 + "&#xFFFFFFFF;" + "<!--") is not None
