"""The request that goes to a model: what the broker adds, and what it leaves as it came."""

import functools
from typing import cast

from schemas import ids
from schemas.commands.complete import Complete
from schemas.events.run import RunRequested
from schemas.values.answers import ANSWERS

Json = dict[str, object]


def of_specialist(request: RunRequested, ask: Complete, payload: str) -> Json:
    """One system prompt, one JSON object, the schema of the answer, a recorded seed."""
    return {
        "model": request.models.specialist,
        "messages": [
            {"role": "system", "content": ask.system},
            {"role": "user", "content": payload},
        ],
        "response_format": response_format(ask.answer),
        "seed": ids.seed_of(request.seed, ask.caller, ask.about, ask.attempt_no),
    }


def of_organism(request: RunRequested, body: Json, caller: str, number: int) -> Json:
    """The organism's own request with the run's model and a seed of its own."""
    seed = ids.seed_of(request.seed, caller, number)
    sent = {**body, "model": request.models.organism, "seed": seed}
    sent.pop("stream", None)
    sent.pop("stream_options", None)
    return sent


def probe(request: RunRequested, role: str, attempt_no: int) -> Json:
    """The smallest question that shows that a model answers."""
    model = request.models.specialist if role == "specialist" else request.models.organism
    return {
        "model": model,
        "messages": [{"role": "user", "content": "Answer with one word: ready"}],
        "max_tokens": 1,
        "seed": ids.seed_of(request.seed, "preflight", role, attempt_no),
    }


@functools.cache
def response_format(answer: str) -> Json:
    return {
        "type": "json_schema",
        "json_schema": {"name": answer, "strict": True, "schema": schema_of(answer)},
    }


def schema_of(answer: str) -> Json:
    """The schema of an answer without references, in the form that strict decoders take."""
    schema = ANSWERS[answer].model_json_schema()
    definitions = schema.pop("$defs", {})
    return cast(Json, _plain(schema, definitions))


def _plain(node: object, definitions: Json) -> object:
    if isinstance(node, list):
        return [_plain(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _plain(definitions[node["$ref"].rpartition("/")[2]], definitions)
    kept = {k: v for k, v in node.items() if k not in ("default", "discriminator", "title")}
    if "oneOf" in kept:
        kept["anyOf"] = kept.pop("oneOf")
    if "anyOf" in kept:
        kept["anyOf"] = _alternatives(kept["anyOf"])
    plain = {
        key: {name: _plain(value, definitions) for name, value in inner.items()}
        if key == "properties"
        else _plain(inner, definitions)
        for key, inner in kept.items()
    }
    if "properties" in plain:
        plain["required"] = list(cast(Json, plain["properties"]))
    return plain


def _alternatives(options: list[Json]) -> list[Json]:
    """A number also accepts its decimal text in pydantic; a model should write a number."""
    numeric = any(o.get("type") in ("number", "integer") for o in options)
    return [o for o in options if not (numeric and o.get("type") == "string")]
