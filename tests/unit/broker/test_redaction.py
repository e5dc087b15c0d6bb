"""What must not be kept, and what must."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given as always
from hypothesis import strategies as st

from services.broker.core.clean import broken, clean
from services.broker.core.redaction import Redactor

VALUE = 'pass"word\\with/odd chars'
REDACTOR = Redactor({"CANARY": VALUE, "OTHER": "0123456789", "TINY": "abc"})


@pytest.mark.parametrize(
    "form",
    [
        VALUE,
        json.dumps(VALUE)[1:-1],
        quote(VALUE, safe=""),
        base64.b64encode(VALUE.encode()).decode(),
        VALUE.encode().hex(),
    ],
)
def test_a_value_is_found_in_every_usual_form(form: str) -> None:
    kept = REDACTOR.text(f"before {form} after")
    assert kept.startswith("before [secret CANARY]")
    assert kept.endswith(" after")


def test_a_value_is_found_anywhere_in_json() -> None:
    found = REDACTOR.value({"a": [{"b": f"x {VALUE}"}], VALUE: 1})
    assert found == {"a": [{"b": "x [secret CANARY]"}], "[secret CANARY]": 1}


def test_sensitive_members_go_and_counters_stay() -> None:
    body: dict[str, object] = {
        "api_key": "k", "Authorization": "Basic x", "token": "t", "access_token": "t",
        "total_tokens": 15, "max_tokens": 3, "completion_tokens": 5, "token_count": "7",
        "secret": 3, "passwords": ["x"],
    }  # fmt: skip
    kept = REDACTOR.value(body)
    assert kept == {
        **body, "api_key": "[secret]", "Authorization": "[secret]", "token": "[secret]",
        "access_token": "[secret]",
    }  # fmt: skip


def test_well_known_shapes_go() -> None:
    text = "Authorization: Bearer abcdefghijklmnop1234 and sk-abcdefghijklmnopqrstuv"
    assert REDACTOR.text(text) == "Authorization: [secret] and [secret]"


def test_short_values_are_words() -> None:
    assert REDACTOR.text("abc") == "abc"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["tokens", "secret"]), inner),
)


@always(json_values)
def test_numbers_are_never_touched(value: object) -> None:
    assert REDACTOR.value(value) == value


@always(st.text(st.characters(), max_size=50), st.integers(0, 50))
def test_clean_text_can_be_encoded_and_is_bounded(text: str, limit: int) -> None:
    kept = clean(text, limit)
    assert len(kept) <= limit
    assert not broken(kept)
    assert "\x00" not in kept


def test_private_keys_go_in_one_pass() -> None:
    """Text that begins many keys and ends none must not take for ever."""
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"
    other = "-----BEGIN CERTIFICATE-----"
    assert REDACTOR.text(f"a {key} b {other} {key}c") == (
        f"a [secret private key] b {other} [secret private key]c"
    )
    assert len(REDACTOR.text("-----BEGIN PRIVATE KEY-----" * 100_000)) < 100
    assert len(REDACTOR.text("-----BEGIN " * 300_000 + "PRIVATE KEY-----")) > 3_000_000
