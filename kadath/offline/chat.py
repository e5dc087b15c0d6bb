"""OpenAI's shapes: completion, stream, errors. Equal requests give equal bytes."""

import hashlib
import json
from collections.abc import Iterator

from kadath.offline.request import Json, Request

FINGERPRINT = "kadath-offline-1 (a search engine, not a language model)"
PIECE_CHARS = 256


def completion(request: Request, text: str, finish: str = "stop") -> Json:
    """The body of a complete answer."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    return _head(request, "chat.completion") | {"choices": [choice], "usage": usage(request, text)}


def stream(request: Request, text: str, finish: str = "stop") -> Iterator[bytes]:
    """The same answer as server-sent events."""
    head = _head(request, "chat.completion.chunk")
    yield _event(head | {"choices": [_delta({"role": "assistant", "content": ""})]})
    for start in range(0, len(text), PIECE_CHARS):
        piece = text[start : start + PIECE_CHARS]
        yield _event(head | {"choices": [_delta({"content": piece})]})
    yield _event(head | {"choices": [_delta({}, finish)]})
    if request.include_usage:
        yield _event(head | {"choices": [], "usage": usage(request, text)})
    yield b"data: [DONE]\n\n"


def usage(request: Request, text: str) -> dict[str, int]:
    """Tokens by a fixed rule, a token for four bytes: stable, and no tokenizer to download."""
    asked = sum(_tokens(message.text) + 4 for message in request.messages)
    said = _tokens(text)
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def error(kind: str, message: str) -> Json:
    """The body of an answer that is no success."""
    return {"error": {"type": kind, "code": kind, "message": message, "param": None}}


def models() -> Json:
    """The list of models, which says what they are."""
    about = {"kind": "search engine", "language_model": False, "description": FINGERPRINT}
    return {
        "object": "list",
        "data": [
            {
                "id": "offline",
                "object": "model",
                "created": 0,
                "owned_by": "kadath",
                "metadata": about,
            }
        ],
    }


def _head(request: Request, kind: str) -> Json:
    asked = json.dumps([(m.role, m.text) for m in request.messages] + [(request.role, "")])
    return {
        "id": "chatcmpl-" + hashlib.sha256(asked.encode()).hexdigest()[:24],
        "object": kind,
        "created": 0,
        "model": request.model,
        "system_fingerprint": FINGERPRINT,
    }


def _delta(delta: Json, finish: str | None = None) -> Json:
    return {"index": 0, "delta": delta, "finish_reason": finish}


def _event(body: Json) -> bytes:
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def _tokens(text: str) -> int:
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4
