"""The real server over real HTTP: contracts, streaming, faults."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from kadath.offline.demos import DEMOS
from schemas.values.answers import ANSWERS
from tests.integration.offline.server_process import Offline

PLAIN = DEMOS["sorting_network"].toolbox.starter
PARENT = {"agent": "a0001", "files": {"solver.py": PLAIN}, "measured": {}}
BENCHMARK = {"criteria": [], "tie_breaks": [], "failures": [], "anti_fraud": []}
FRAGMENTS = [{"id": "f1", "ref": "candidate", "text": "the value is 17", "agent": "a0001"}]
QUESTIONS = {
    "architect_benchmark": {"goal": DEMOS["sorting_network"].goal},
    "birther_variants": {"base_prompt": "Work.", "first": 0, "count": 3},
    "birther_mutation": {"parent": PARENT, "elites": [], "slot": "a0009", "seed": 1, "epoch": 1},
    "grader_chunk": {"benchmark": BENCHMARK, "fragments": FRAGMENTS},
    "grader_notes": {"reviews": [{"id": "r1", "notes": [{"evidence_ref": "c", "note": "n"}]}]},
    "grader_facts": {
        "items": {
            "criteria": [
                {
                    "id": "value",
                    "description": "the value",
                    "measurement": {"type": "numeric_linear", "minimum": 0, "target": 20},
                }
            ],
            "tie_breaks": [],
            "failures": [{"id": "empty"}],
            "anti_fraud": [{"id": "honest"}],
        },
        "notes": [{"notes": [{"evidence_ref": "candidate", "note": "the value is 17"}]}],
        "valid_refs": ["candidate"],
    },
    "tweaker_dossier": {"fragments": FRAGMENTS},
    "tweaker_briefs": {"ranked": [], "notes": [], "births": 2, "elites": ["a0001", "a0002"]},
}


@pytest.fixture(scope="module")
def offline() -> Iterator[Offline]:
    server = Offline()
    yield server
    server.close()


def faulty(tmp_path: Path, **plan: object) -> Offline:
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    return Offline("--faults", str(tmp_path / "plan.json"))


@pytest.mark.parametrize("schema", sorted(ANSWERS))
def test_every_specialist_answers_by_its_contract(offline: Offline, schema: str) -> None:
    """The class that made the schema accepts the answer, and usage is counted."""
    body = offline.ask(schema, QUESTIONS[schema]).json()
    ANSWERS[schema].model_validate_json(body["choices"][0]["message"]["content"])
    usage = body["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 0
    assert "not a language model" in body["system_fingerprint"]


def test_equal_requests_have_equal_bytes(offline: Offline) -> None:
    """No clock, no counter, no chance in an answer."""
    first, second = (
        offline.ask("birther_mutation", QUESTIONS["birther_mutation"]).content for _ in range(2)
    )
    assert first == second


def test_models_say_what_they_are(offline: Offline) -> None:
    """The list names a search engine."""
    (model,) = offline.client.get(offline.url + "/models").json()["data"]
    assert (model["id"], model["metadata"]["language_model"]) == ("offline", False)


def test_another_goal_is_refused_with_status_422(offline: Offline) -> None:
    """An error body in OpenAI's shape that names the demos."""
    reply = offline.ask("architect_benchmark", {"goal": "Cure the common cold"})
    assert reply.status_code == 422
    assert reply.json()["error"]["type"] == "unsupported_goal"
    assert DEMOS["circle_packing"].goal in reply.json()["error"]["message"]


@pytest.mark.parametrize("body", [{}, {"messages": []}, {"messages": "x"}, {"messages": [3]}])
def test_a_malformed_request_is_refused_with_status_400(offline: Offline, body: dict) -> None:
    """No stack trace, an error in OpenAI's shape."""
    reply = offline.post(body)
    assert (reply.status_code, reply.json()["error"]["type"]) == (400, "invalid_request_error")


def test_an_incomplete_question_is_refused_with_status_422(offline: Offline) -> None:
    """What is missing is named."""
    reply = offline.ask("tweaker_briefs", {"births": 1})
    assert reply.status_code == 422
    assert "elites" in reply.json()["error"]["message"]


def test_a_stream_adds_up_to_the_whole_answer(offline: Offline) -> None:
    """The pieces are the answer, then usage, then the end."""
    question = QUESTIONS["architect_benchmark"]
    whole = offline.ask("architect_benchmark", question).json()
    options = {"stream": True, "stream_options": {"include_usage": True}}
    lines = offline.ask("architect_benchmark", question, **options).text.splitlines()
    events = [line.removeprefix("data: ") for line in lines if line]
    assert events[-1] == "[DONE]"
    chunks = [json.loads(event) for event in events[:-1]]
    pieces = [c["choices"][0]["delta"].get("content", "") for c in chunks if c["choices"]]
    assert whole["choices"][0]["message"]["content"] == "".join(pieces)
    assert whole["usage"] == chunks[-1]["usage"]


def test_faults_carry_an_id_and_are_listed(tmp_path: Path) -> None:
    """Every spoiled answer can be found again in the statistics."""
    server = faulty(tmp_path, seed=4, rate=0.5, stall_seconds=0.01)
    try:
        replies = [
            server.ask("tweaker_dossier", {"fragments": FRAGMENTS, "n": n}) for n in range(40)
        ]
        marked = [r.headers["x-kadath-fault"] for r in replies if "x-kadath-fault" in r.headers]
        assert marked == [fault["id"] for fault in server.stats()["faults"]]
        assert 8 <= len(marked) <= 32
        assert {200, 429, 500} >= {reply.status_code for reply in replies}
    finally:
        server.close()


def test_a_stall_lasts_as_long_as_planned(tmp_path: Path) -> None:
    """A client that waits less gets nothing; the answer after the stall is whole."""
    server = faulty(tmp_path, seed=1, rate=1.0, stall_seconds=0.4, kinds=["stall"])
    try:
        with pytest.raises(httpx.ReadTimeout):
            server.client.post(
                server.url + "/chat/completions",
                json={"messages": [{"role": "user", "content": "hi"}]},
                timeout=0.1,
            )
        assert server.ask("tweaker_dossier", {"fragments": FRAGMENTS}).status_code == 200
    finally:
        server.close()


def test_a_lone_surrogate_travels_as_an_escape(tmp_path: Path) -> None:
    """The body is valid JSON, its text is not valid Unicode."""
    server = faulty(tmp_path, seed=1, rate=1.0, kinds=["surrogate"])
    try:
        body = server.ask("tweaker_dossier", {"fragments": FRAGMENTS}).json()
        with pytest.raises(UnicodeEncodeError):
            body["choices"][0]["message"]["content"].encode()
    finally:
        server.close()
