"""A specialist's call: recorded once, reused, tried again, refused."""

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path

import aiohttp
import pytest

from schemas import Draft, canonical, ref_of
from schemas.commands.complete import Complete
from schemas.events.run import RequiredCheck, RunPreflightRequested
from schemas.values.runtime import Budget
from tests.integration.broker.stage import HI, VARIANTS, Stage, completion, organism
from tests.support import given
from tests.support.stub_model import Reply, StubModel, in_turn

ROOT = Path(__file__).parents[3]


def test_an_equal_question_is_asked_and_recorded_once(stage: Stage) -> None:
    """A redelivered effect gets the recorded answer; a deliberate repeat is another call."""

    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url)
        first, second = await stage.complete(), await stage.complete()
        other = await stage.complete(attempt_no=1)
        assert first == second
        assert other["call"] != first["call"]
        assert len(stub.chats) == 2
        assert len(await stage.events("model_call.recorded")) == 2

    with StubModel(lambda _: VARIANTS) as stub:
        stage.kernel.run(story(stub))


def test_equal_questions_at_the_same_time_share_one_call(stage: Stage) -> None:
    """While the first is under way the second waits for the same answer."""

    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url)
        answers = await asyncio.gather(*[stage.complete() for _ in range(5)])
        assert len({answer["call"] for answer in answers}) == 1
        assert len(stub.chats) == 1

    slow = Reply(200, completion(VARIANTS), delay_seconds=0.2)
    with StubModel(lambda _: slow) as stub:
        stage.kernel.run(story(stub))


def test_the_request_carries_schema_and_seed(stage: Stage) -> None:
    """The schema is complete in itself; the seed comes from recorded facts."""

    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url)
        await stage.complete()
        sent = stub.chats[0]
        assert sent["response_format"]["json_schema"]["name"] == "birther_variants"
        assert "$ref" not in json.dumps(sent["response_format"])
        assert isinstance(sent["seed"], int)
        assert json.loads(sent["messages"][1]["content"]) == {"about": "x"}

    with StubModel(lambda _: VARIANTS) as stub:
        stage.kernel.run(story(stub))


BROKEN = {
    "contract": Reply(200, completion('{"variations": 3}')),
    "truncated": Reply(200, completion('{"variations": ["a')),
    "empty": Reply(200, completion("")),
    "encoding": Reply(200, completion('{"variations": ["\ud800"]}')),
    "rate": Reply(429, {"error": {}}, headers={"Retry-After": "0"}),
    "provider": Reply(500, {"error": {}}),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_answer_is_one_failed_event_and_is_tried_again(stage: Stage, kind: str) -> None:
    """The event names the fault that the server injected."""
    reply = BROKEN[kind]
    spoiled = Reply(
        reply.status, reply.body, reply.raw, {**reply.headers, "x-kadath-fault": f"f-{kind}"}
    )

    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url)
        answer = await stage.complete()
        failed = await stage.events("model_call.failed")
        recorded = await stage.events("model_call.recorded")
        assert [(f.data.kind, f.data.fault) for f in failed] == [(kind, f"f-{kind}")]
        assert [(r.data.tries, r.data.fault) for r in recorded] == [(2, None)]
        assert answer["call"] == failed[0].entity_id == recorded[0].entity_id

    with StubModel(in_turn(spoiled, VARIANTS)) as stub:
        stage.kernel.run(story(stub))


def test_five_broken_answers_end_the_call(stage: Stage) -> None:
    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url)
        answer = await stage.complete()
        failed = await stage.events("model_call.failed")
        assert answer["kind"] == "empty"
        assert [f.data.attempt_no for f in failed] == [1, 2, 3, 4, 5]

    with StubModel(lambda _: BROKEN["empty"]) as stub:
        stage.kernel.run(story(stub))


def test_a_permanent_refusal_is_not_tried_again(stage: Stage) -> None:
    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url)
        answer = await stage.complete()
        assert (answer["kind"], answer["retryable"]) == ("refused", False)
        assert len(stub.chats) == 1

    with StubModel(lambda _: Reply(401, {"error": {"message": "no key"}})) as stub:
        stage.kernel.run(story(stub))


def test_a_spent_budget_refuses_and_is_said_once(stage: Stage) -> None:
    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url, Budget(calls=1))
        await stage.complete()
        answers = [await stage.complete(about=f"y{n}") for n in range(2)]
        assert [answer["kind"] for answer in answers] == ["budget", "budget"]
        assert len(stub.chats) == 1
        exhausted = await stage.events("budget.exhausted")
        assert [(e.data.limit, e.data.cap) for e in exhausted] == [("calls", 1)]

    with StubModel(lambda _: VARIANTS) as stub:
        stage.kernel.run(story(stub))


def test_an_unknown_run_is_refused(stage: Stage) -> None:
    assert stage.kernel.run(stage.complete())["kind"] == "refused"


def test_no_canary_is_kept(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret that the model repeats is in no event and no blob; counters stay."""
    canary = "canary-9f8e7d6c5b4a"
    monkeypatch.setenv("CANARY", canary)

    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url, secrets=("CANARY",))
        token = await stage.token()
        body = {
            "messages": [{"role": "user", "content": f"my key is {canary}"}],
            "api_key": "short",
            "max_tokens": 50,
        }
        async with organism(token) as http:
            answer = await http.post("/v1/chat/completions", json=body)
            assert canary not in await answer.text()
            await http.post(
                "/memory",
                json={"kind": "finding", "summary": canary, "visibility": "population"},
            )
        recorded = (await stage.events("model_call.recorded"))[0].data
        kept = json.loads(stage.kernel.context("broker").blobs.get(recorded.request))
        assert (kept["max_tokens"], kept["api_key"]) == (50, "[secret]")
        assert recorded.usage.prompt == 10

    with StubModel(lambda _: f"so it is {canary}") as stub:
        stage.kernel.run(story(stub))
    found = subprocess.run(
        ["grep", "-rl", canary, str(stage.kernel.where.state)], capture_output=True, check=False
    )
    assert found.stdout == b""


def test_preflight_asks_both_models(stage: Stage) -> None:
    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url)
        await _preflight(stage)
        passed = await stage.events("preflight.check_passed")
        assert passed[0].data.resolved == {"specialist": "stub", "organism": "stub"}
        assert [chat["max_tokens"] for chat in stub.chats] == [1, 1]

    with StubModel(lambda _: "ready") as stub:
        stage.kernel.run(story(stub))


def test_preflight_fails_when_no_model_answers(stage: Stage) -> None:
    async def story() -> None:
        await stage.open("http://127.0.0.1:9/v1")
        await _preflight(stage)
        failed = await stage.events("preflight.check_failed")
        assert "specialist model does not answer" in failed[0].data.reason

    stage.kernel.run(story())


def test_a_money_cap_needs_prices(stage: Stage) -> None:
    """Without a price the cap would never be reached."""

    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url, Budget(usd=Decimal(1)))
        await _preflight(stage)
        failed = await stage.events("preflight.check_failed")
        assert "needs a price" in failed[0].data.reason

    with StubModel(lambda _: "ready") as stub:
        stage.kernel.run(story(stub))


async def _preflight(stage: Stage) -> None:
    content = canonical(given.benchmark())
    asked = RunPreflightRequested(
        benchmark=ref_of(content), required=(RequiredCheck(service="broker", check="models"),)
    )
    view = stage.kernel.context("broker").view(stage.run)
    await stage.kernel.say("scheduler", stage.run, Draft("main", asked, None, (content,)))
    await stage.kernel.until(lambda: view.preflight_answered > view.preflight_seq)


def test_each_injected_fault_is_in_exactly_one_event(stage: Stage, tmp_path: Path) -> None:
    """Against the offline model with a fault plan: what it injected is what the log holds."""
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"seed": 3, "rate": 0.5, "stall_seconds": 0.3}))
    argv = [sys.executable, "-m", "kadath.offline", "--port", "0", "--faults", str(plan)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(argv, stdout=subprocess.PIPE, cwd=ROOT, env=environment) as server:
        try:
            assert server.stdout is not None
            url = json.loads(server.stdout.readline())["url"]
            stage.kernel.run(_spoiled(stage, url))
        finally:
            server.terminate()


async def _spoiled(stage: Stage, url: str) -> None:
    await stage.open(url, model="offline")
    await asyncio.gather(*[_variants(stage, n) for n in range(12)])
    token = await stage.token()
    async with organism(token) as http:
        for n in range(12):
            body = {**HI, "messages": [{"role": "user", "content": f"question {n}"}]}
            await http.post("/v1/chat/completions", json=body)
    async with aiohttp.ClientSession() as http:
        reply = await http.get(f"{url.removesuffix('/v1')}/stats")
        injected = Counter(fault["id"] for fault in (await reply.json())["faults"])
    events = await stage.events("model_call.failed", "model_call.recorded")
    seen = Counter(e.data.fault for e in events if e.data.fault)
    assert injected
    assert seen == injected


async def _variants(stage: Stage, number: int) -> None:
    question = {
        "objective": "o",
        "instructions": "",
        "base_prompt": f"prompt {number}",
        "first": 1,
        "count": 1,
        "population": 4,
    }
    payload = await stage.kernel.context("architect").blobs.put(canonical(question))
    ask = Complete(
        run=stage.run,
        caller="evolver",
        purpose="test",
        answer="birther_variants",
        about=f"n{number}",
        system="Answer.",
        payload=payload,
    )
    await stage.kernel.call("evolver", "broker", "complete", ask)
