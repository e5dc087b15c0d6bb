"""What is an answer, and why something else is none."""

import json

import pytest

from services.broker.core.answer import Bad, Contract, Good, Tried, judge
from tests.unit.broker.past import completion

TEXT = Contract()
VARIANTS = Contract(answer="birther_variants")
VALID = '{"variations": ["a"]}'


def test_a_complete_answer_is_good() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    answer = judge(Tried(200, completion("hello", usage=usage)), TEXT, 100)
    assert isinstance(answer, Good)
    assert (answer.text, answer.finish) == ("hello", "stop")
    assert (answer.usage.prompt, answer.usage.completion) == (7, 3)


def test_what_nobody_counted_is_estimated() -> None:
    """A server without usage must not make a budget endless."""
    answer = judge(Tried(200, completion("x" * 40)), TEXT, 400)
    assert isinstance(answer, Good)
    assert (answer.usage.prompt, answer.usage.completion) == (100, 10)


@pytest.mark.parametrize(
    ("tried", "kind", "retryable"),
    [
        (Tried(trouble="timeout"), "timeout", True),
        (Tried(trouble="connection", detail="refused"), "provider", True),
        (Tried(429), "rate", True),
        (Tried(500), "provider", True),
        (Tried(504), "timeout", True),
        (Tried(400), "refused", False),
        (Tried(401), "refused", False),
        (Tried(302), "provider", False),
        (Tried(200), "empty", True),
        (Tried(200, b"  \n"), "empty", True),
        (Tried(200, b'{"choices"', complete=False), "truncated", True),
        (Tried(200, b'{"choices": [{"mes'), "truncated", True),
        (Tried(200, b"<html>"), "contract", True),
        (Tried(200, b"[]"), "contract", True),
        (Tried(200, b"\xff\xfe"), "encoding", True),
        (Tried(200, b"[" * 100_000), "contract", True),
        (Tried(200, b'{"choices": []}'), "contract", True),
        (Tried(200, b'{"choices": [{"message": 3}]}'), "contract", True),
        (Tried(200, completion(3)), "contract", True),
        (Tried(200, completion("a", 3)), "contract", True),
        (Tried(200, completion("")), "empty", True),
        (Tried(200, completion(None)), "empty", True),
        (Tried(200, completion("a\ud800")), "encoding", True),
        (Tried(200, completion("half", "length")), "truncated", True),
        (Tried(200, completion("no", "content_filter")), "refused", False),
    ],
)
def test_each_trouble_has_its_name(tried: Tried, kind: str, retryable: bool) -> None:
    answer = judge(tried, TEXT, 0)
    assert isinstance(answer, Bad)
    assert (answer.kind, answer.retryable) == (kind, retryable)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I would rather not.", "contract"),
        ('{"variations": 3}', "contract"),
        ('{"variations": [], "extra": 1}', "contract"),
        ("[17]", "contract"),
        ('{"variations": ["a', "truncated"),
        ('{"variations": ["\\ud800"]}', "encoding"),
        (" ", "empty"),
    ],
)
def test_a_specialists_text_must_fit_its_class(text: str, kind: str) -> None:
    answer = judge(Tried(200, completion(text)), VARIANTS, 0)
    assert isinstance(answer, Bad)
    assert answer.kind == kind


def test_a_specialists_valid_text_is_kept_as_it_came() -> None:
    answer = judge(Tried(200, completion(VALID)), VARIANTS, 0)
    assert isinstance(answer, Good)
    assert answer.text == VALID


def test_a_cut_answer_is_good_when_the_request_bounded_it() -> None:
    """Asking again would only cut it again."""
    limited = Contract(limited=True)
    assert isinstance(judge(Tried(200, completion("ha", "length")), limited, 0), Good)
    assert isinstance(judge(Tried(200, completion("", "length")), limited, 0), Good)
    assert isinstance(judge(Tried(200, completion("")), limited, 0), Bad)


def test_a_tool_call_needs_no_text() -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    assert isinstance(judge(Tried(200, json.dumps(body).encode()), TEXT, 0), Good)


def test_a_surrogate_pair_is_a_character() -> None:
    body = completion("smile \U0001f600")
    assert b"\\ud83d" in body
    assert isinstance(judge(Tried(200, body), TEXT, 0), Good)


def test_the_reason_is_bounded_and_clean() -> None:
    answer = judge(Tried(500, b"\x00\xff" * 5000), TEXT, 0)
    assert isinstance(answer, Bad)
    assert len(answer.detail) <= 500
    assert "\x00" not in answer.detail
