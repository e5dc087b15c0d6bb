"""A body as `encode` writes it is parsed in one pass; the answer is that of the general path."""

import json

import pytest

from schemas import CATALOGUE, Actor, Envelope, decode, encode
from schemas.envelope import _decode_any
from schemas.events.run import RunPauseRequested
from tests.support.given import START


def body(**changes: object) -> bytes:
    envelope = Envelope(
        id="1", type="run.pause_requested", v=1, run="r", entity="run", entity_id="main",
        occurred_at=START, seen=0, actor=Actor(kind="operator", name="o"), by="b",
        data=RunPauseRequested(mode="epoch", reason="because"),
    )  # fmt: skip
    raw = json.loads(encode(envelope)) | changes
    return json.dumps(raw, separators=(",", ":")).encode()


def test_both_paths_give_the_same_envelope() -> None:
    found = decode(body(), CATALOGUE)
    assert found == _decode_any(body(), CATALOGUE)
    assert type(found) is Envelope
    assert type(found.data) is RunPauseRequested
    assert encode(found) == body()


def test_another_order_of_keys_is_read_as_well() -> None:
    turned = json.dumps(dict(reversed(json.loads(body()).items()))).encode()
    assert decode(turned, CATALOGUE) == decode(body(), CATALOGUE)


@pytest.mark.parametrize("more", [b',"type":"run.completed"}', b',"v":7}'])
def test_a_key_that_stands_twice_cannot_name_another_class(more: bytes) -> None:
    forged = body()[:-1] + more
    with pytest.raises(ValueError):
        decode(forged, CATALOGUE)


@pytest.mark.parametrize(
    "broken", [body()[:-1], body(more=1), body(seen="x"), body(v=9), body(data=[]), b"[]", b""]
)
def test_what_is_no_event_is_a_value_error_on_both_paths(broken: bytes) -> None:
    for parse in (decode, _decode_any):
        with pytest.raises(ValueError):
            parse(broken, CATALOGUE)
