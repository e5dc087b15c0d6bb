"""A chat completion request, read once at the edge and typed from there on."""

import json
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Message:
    role: str
    text: str


@dataclass(frozen=True)
class Request:
    """What was asked: by which role, in which phase, with which messages."""

    model: str
    messages: tuple[Message, ...]
    schema: str | None = None
    phase: str | None = None
    stream: bool = False
    include_usage: bool = False

    @property
    def role(self) -> str:
        """The schema's name, else the organism's phase, else plain chat."""
        return self.schema or (f"organism_{self.phase}" if self.phase else "chat")

    @property
    def question(self) -> Json:
        """The JSON object in the last user message; empty when there is none."""
        for message in reversed(self.messages):
            if message.role == "user":
                return _object(message.text)
        return {}


class BadRequest(ValueError):
    """The body is no chat completion request."""


def read(body: object) -> Request:
    """The request in a body, or `BadRequest` with the reason."""
    if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
        raise BadRequest("messages must be a list")
    messages = tuple(_message(item) for item in body["messages"])
    if not messages:
        raise BadRequest("messages must not be empty")
    options = body.get("stream_options")
    return Request(
        model=str(body.get("model", "offline")),
        messages=messages,
        schema=_schema_name(body.get("response_format")),
        phase=_phase(body.get("metadata")),
        stream=body.get("stream") is True,
        include_usage=isinstance(options, dict) and options.get("include_usage") is True,
    )


def _message(item: object) -> Message:
    if not isinstance(item, dict):
        raise BadRequest("a message must be an object")
    return Message(str(item.get("role", "user")), _text(item.get("content")))


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _schema_name(form: object) -> str | None:
    if not isinstance(form, dict) or form.get("type") != "json_schema":
        return None
    named = form.get("json_schema")
    return str(named.get("name")) if isinstance(named, dict) else None


def _phase(metadata: object) -> str | None:
    return str(metadata["phase"]) if isinstance(metadata, dict) and metadata.get("phase") else None


def _object(text: str) -> Json:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
