"""When a recorded answer may be used again."""

from schemas import canonical
from schemas.commands.complete import Complete
from schemas.refs import BlobRef
from schemas.values.answers import ANSWERS
from services.broker.core import chat, journal
from tests.unit.broker.past import BLOB, called, failed, given, requested

REQUEST: dict[str, object] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def _keys(run: str, caller: str, occurrence: int, request: dict[str, object]) -> journal.Keys:
    return journal.keys(run, caller, occurrence, canonical(request))


def test_equal_questions_of_one_caller_have_one_key() -> None:
    assert _keys("r1", "a", 0, REQUEST) == _keys("r1", "a", 0, dict(reversed(REQUEST.items())))


def test_everything_that_shapes_an_answer_shapes_the_key() -> None:
    """Caller, occurrence, model, messages, parameters."""
    asked = _keys("r1", "a", 0, REQUEST)
    others = [
        _keys("r1", "b", 0, REQUEST),
        _keys("r1", "a", 1, REQUEST),
        _keys("r1", "a", 0, {**REQUEST, "model": "n"}),
        _keys("r1", "a", 0, {**REQUEST, "messages": []}),
        _keys("r1", "a", 0, {**REQUEST, "seed": 1}),
    ]
    assert len({asked, *others}) == 6
    assert len({key.tape for key in (asked, *others)}) == 6


def test_a_tape_key_knows_no_run() -> None:
    one, two = (_keys(run, "a", 0, REQUEST) for run in ("r1", "r2"))
    assert one.call != two.call
    assert one.tape == two.tape


def test_an_own_crash_is_another_caller() -> None:
    assert journal.organism("e001x1-a0001", 0) == "e001x1-a0001"
    assert journal.organism("e001x1-a0001", 1) == "e001x1-a0001+1"


def test_a_fold_finds_recorded_calls_by_both_keys() -> None:
    view = given(requested(), called(key="1" * 64, call="c9"))
    assert view.journal["1" * 64] == journal.Answered("c9", BLOB)
    assert view.tape["0" * 64].call == "c9"


def test_failed_tries_are_numbered_on() -> None:
    view = given(requested(), failed(attempt_no=1), failed(attempt_no=2))
    assert view.failures == {"c1": 2}


def test_a_specialists_request_is_complete_in_itself() -> None:
    """No schema refers to anything outside, and every object names all its members."""
    for name in ANSWERS:
        schema = chat.schema_of(name)
        assert "$ref" not in str(schema)
        assert "$defs" not in schema
        _strict(schema)


def _strict(node: object) -> None:
    if isinstance(node, list):
        for item in node:
            _strict(item)
    if not isinstance(node, dict):
        return
    if isinstance(node.get("properties"), dict):
        assert node["required"] == list(node["properties"])
        assert node["additionalProperties"] is False
    for item in node.values():
        _strict(item)


def test_the_seed_comes_from_recorded_facts() -> None:
    view = given(requested(seed=7))
    assert view.request is not None
    ask = Complete(
        run="r", caller="grader", purpose="p", answer="grader_facts", about="x", system="s",
        payload=BlobRef(sha256="0" * 64, size=0),
    )  # fmt: skip
    again = ask.model_copy(update={"attempt_no": 1})
    seeds = [chat.of_specialist(view.request, a, "{}")["seed"] for a in (ask, ask, again)]
    assert seeds[0] == seeds[1] != seeds[2]


def test_an_organisms_request_keeps_everything_but_model_seed_and_stream() -> None:
    view = given(requested())
    assert view.request is not None
    body: dict[str, object] = {"model": "best", "seed": 1, "stream": True, "stop": ["x"]}
    sent = chat.of_organism(view.request, body, "e001x1-a0001", 0)
    assert sent == {"model": "small", "seed": sent["seed"], "stop": ["x"]}
    assert sent["seed"] != chat.of_organism(view.request, body, "e001x1-a0001", 1)["seed"]
