"""Is what a provider sent back an answer? One judgement for one try."""

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NamedTuple

from pydantic import ValidationError

from schemas.events.model_call import FailureKind
from schemas.values.answers import ANSWERS
from schemas.values.runtime import Usage
from services.broker.core.clean import broken, clean

DETAIL_CHARS = 500
TIMEOUT_STATUSES = frozenset({408, 504, 524})
PERMANENT_STATUSES = frozenset({400, 401, 402, 403, 404, 405, 409, 410, 413, 415, 422})


@dataclass(frozen=True)
class Tried:
    """What one request brought. `status` None: no answer at all; `trouble` says why."""

    status: int | None = None
    body: bytes = b""
    complete: bool = True
    trouble: Literal["", "timeout", "connection"] = ""
    detail: str = ""
    retry_after: float | None = None
    fault: str | None = None
    cost: Decimal | None = None


@dataclass(frozen=True)
class Contract:
    """What the answer's text must be: `answer` names a class of ANSWERS, "" is plain text.

    `limited`: the request itself bounds the length, so a cut answer is what was asked for.
    """

    answer: str = ""
    limited: bool = False


class Good(NamedTuple):
    body: dict[str, object]
    text: str
    finish: str
    usage: Usage


class Bad(NamedTuple):
    kind: FailureKind
    detail: str
    retryable: bool = True


def judge(tried: Tried, contract: Contract, request_bytes: int) -> Good | Bad:
    """The answer, or the one reason why it is none."""
    bad = _transport(tried)
    if bad:
        return bad
    body = _parsed(tried.body)
    if isinstance(body, Bad):
        return body
    choice = _choice(body)
    if isinstance(choice, Bad):
        return choice
    text, finish = choice
    bad = _text(text, finish, contract, _calls_tools(body))
    if bad:
        return bad
    return Good(body, text, finish, _usage(body, request_bytes, text, tried.cost))


def _transport(tried: Tried) -> Bad | None:
    if tried.trouble == "timeout":
        return Bad("timeout", _short(tried.detail or "no answer in time"))
    if tried.status is None:
        return Bad("provider", _short(tried.detail or "no connection"))
    if tried.status != 200:
        return _status(tried.status, tried.body)
    if not tried.complete:
        return Bad("truncated", "the connection ended inside the answer")
    if not tried.body.strip():
        return Bad("empty", "the answer has no body")
    return None


def _status(status: int, body: bytes) -> Bad:
    detail = _short(f"status {status}: {body[:DETAIL_CHARS].decode(errors='replace')}")
    if status == 429:
        return Bad("rate", detail)
    if status in TIMEOUT_STATUSES:
        return Bad("timeout", detail)
    if status in PERMANENT_STATUSES:
        return Bad("refused", detail, retryable=False)
    return Bad("provider", detail, retryable=status >= 500)


def _parsed(raw: bytes) -> dict[str, object] | Bad:
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        return Bad("encoding", _short(f"not UTF-8: {error}"))
    try:
        body = json.loads(text)
    except ValueError as error:
        cut = text.lstrip().startswith("{") and not text.rstrip().endswith("}")
        return Bad("truncated" if cut else "contract", _short(f"not JSON: {error}"))
    except RecursionError:
        return Bad("contract", "nested too deep")
    if not isinstance(body, dict):
        return Bad("contract", "not a JSON object")
    if "\\u" in text and broken(json.dumps(body, ensure_ascii=False)):
        return Bad("encoding", "the answer holds a lone surrogate")
    return body


def _choice(body: dict[str, object]) -> tuple[str, str] | Bad:
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(message, dict):
        return Bad("contract", "no choices[0].message")
    content, finish = message.get("content"), first.get("finish_reason")
    if content is None:
        content = ""
    if not isinstance(content, str):
        return Bad("contract", f"content is {type(content).__name__}, not text")
    if finish is not None and not isinstance(finish, str):
        return Bad("contract", f"finish_reason is {type(finish).__name__}, not text")
    return content, clean(finish or "stop", 40)


def _calls_tools(body: dict[str, object]) -> bool:
    message = body["choices"][0]["message"]  # type: ignore[index]
    return isinstance(message.get("tool_calls"), list) and bool(message["tool_calls"])


def _text(text: str, finish: str, contract: Contract, calls_tools: bool) -> Bad | None:
    cut = finish == "length" and not contract.limited
    if not text.strip() and not calls_tools and (cut or finish != "length"):
        return Bad("truncated" if cut else "empty", "the answer has no text")
    if cut:
        return Bad("truncated", "the answer was cut at the provider's length limit")
    if finish == "content_filter":
        return Bad("refused", "the provider's content filter refused", retryable=False)
    return _contract(text, contract.answer) if contract.answer else None


def _contract(text: str, answer: str) -> Bad | None:
    try:
        ANSWERS[answer].model_validate_json(text)
    except ValidationError as error:
        return _invalid(text, error)
    except RecursionError:
        return Bad("contract", "nested too deep")
    return None


def _invalid(text: str, error: ValidationError) -> Bad:
    details = error.errors(include_url=False, include_input=False)[:4]
    detail = _short("; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in details))
    if details[0]["type"] != "json_invalid":
        return Bad("contract", detail)
    if _holds_surrogate(text):
        return Bad("encoding", detail)
    return Bad("truncated" if "EOF" in detail else "contract", detail)


def _holds_surrogate(text: str) -> bool:
    """An escape inside the text; pydantic's parser only says that it is invalid."""
    try:
        return "\\u" in text and broken(json.dumps(json.loads(text), ensure_ascii=False))
    except (ValueError, RecursionError):
        return False


def _usage(body: dict[str, object], request_bytes: int, text: str, cost: Decimal | None) -> Usage:
    """What the provider counted; a provider that counts nothing is estimated, never free."""
    found = body.get("usage")
    usage = found if isinstance(found, dict) else {}
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else 0
    return Usage(
        prompt=_count(usage.get("prompt_tokens"), request_bytes // 4),
        completion=_count(usage.get("completion_tokens"), len(text) // 4),
        cached=_count(cached, 0),
        cost=cost,
    )


def _count(value: object, default: int) -> int:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 1 << 40 else default  # type: ignore[return-value, operator]


def _short(text: str) -> str:
    return clean(text, DETAIL_CHARS)
