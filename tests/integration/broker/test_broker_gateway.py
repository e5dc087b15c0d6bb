"""What an organism reaches over its socket."""

import asyncio
import json
import os
from collections import Counter

import aiohttp
import pytest

from schemas import Draft
from schemas.events.agent import AgentBorn
from schemas.events.attempt import AttemptCrashed, AttemptFinished
from schemas.values.runtime import Budget
from tests.integration.broker.stage import GENOME, HI, Stage, completion, organism
from tests.support.stub_model import Reply, StubModel, in_turn

CHAT = "/v1/chat/completions"


def test_an_organism_gets_the_runs_model_and_a_seed(stage: Stage) -> None:
    """What it names as a model does not count; who asked is added by the broker."""

    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url)
        async with organism(await stage.token()) as http:
            answers = [await http.post(CHAT, json={**HI, "metadata": {"pass": "1"}}) for _ in "ab"]
            assert [a.status for a in answers] == [200, 200]
        assert [c["model"] for c in stub.chats] == ["stub", "stub"]
        assert stub.chats[0]["seed"] != stub.chats[1]["seed"]
        assert stub.chats[0]["metadata"] == {"pass": "1"}
        caller = (await stage.events("model_call.recorded"))[0].data.caller
        assert (caller.kind, caller.name, caller.attempt, caller.genome) == (
            "organism", "a0001", "e001x1-a0001", GENOME,
        )  # fmt: skip

    with StubModel(lambda _: "hello") as stub:
        stage.kernel.run(story(stub))


def test_a_lost_lease_replays_and_an_own_crash_samples_anew(stage: Stage) -> None:
    """Only an organism that crashed by itself gets other answers than the first time."""

    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url)
        asked = []
        for restart, reason in enumerate(("lease_lost", "exit", "exit")):
            async with organism(await stage.token(restart=restart)) as http:
                await http.post(CHAT, json=HI)
            crashed = AttemptCrashed(restart=restart, reason=reason)
            await stage.kernel.say("sandbox", stage.run, Draft("e001x1-a0001", crashed))
            asked.append(len(stub.chats))
        assert asked == [1, 1, 2]
        assert stub.chats[0]["seed"] != stub.chats[1]["seed"]

    with StubModel(lambda _: "hello") as stub:
        stage.kernel.run(story(stub))


def test_a_question_whose_asker_went_away_is_asked_once(stage: Stage) -> None:
    """The call that is paid for goes on; the repeated question waits for its answer."""

    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url)
        token = await stage.token()
        with pytest.raises(TimeoutError):
            async with organism(token) as http:
                await http.post(CHAT, json=HI, timeout=aiohttp.ClientTimeout(total=0.2))
        async with organism(token) as http:
            assert (await http.post(CHAT, json=HI)).status == 200
            assert (await http.post(CHAT, json=HI)).status == 200
        assert len(stub.chats) == 2

    slow = Reply(200, completion("hello"), delay_seconds=0.6)
    with StubModel(lambda _: slow) as stub:
        stage.kernel.run(story(stub))


def test_a_flood_is_told_to_come_again(stage: Stage) -> None:
    """Two calls at once, a few more waiting."""

    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url)
        async with organism(await stage.token()) as http:
            bodies = [{"messages": [{"role": "user", "content": str(n)}]} for n in range(20)]
            replies = await asyncio.gather(*[http.post(CHAT, json=body) for body in bodies])
        statuses = Counter(reply.status for reply in replies)
        assert statuses == {200: 8, 429: 12}

    slow = Reply(200, completion("hello"), delay_seconds=0.1)
    with StubModel(lambda _: slow) as stub:
        stage.kernel.run(story(stub))


def test_only_the_sockets_own_token_opens_it(stage: Stage) -> None:
    async def story() -> None:
        await stage.open("http://127.0.0.1:9/v1")
        mine, other = await stage.token(), await stage.token("a0002")
        for given in ("", "forged", other.token):
            async with organism(mine, given) as http:
                assert (await http.get("/budget")).status == 403
        async with organism(mine) as http:
            assert (await http.get("/budget")).status == 200

    stage.kernel.run(story())


def test_an_expired_grant_is_refused(stage: Stage) -> None:
    async def story() -> None:
        await stage.open("http://127.0.0.1:9/v1")
        async with organism(await stage.token(seconds=-1)) as http:
            assert (await http.post(CHAT, json=HI)).status == 403

    stage.kernel.run(story())


def test_a_finished_attempt_has_no_socket_and_a_settled_block(stage: Stage) -> None:
    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url)
        token = await stage.token()
        async with organism(token) as http:
            await http.post(CHAT, json=HI)
            ended = Draft("e001x1-a0001", AttemptFinished(outcome="completed"))
            await stage.kernel.say("sandbox", stage.run, ended)
            view = stage.kernel.context("broker").view(stage.run)
            await stage.kernel.until(lambda: not view.open_blocks)
            await stage.kernel.until(lambda: not os.path.exists(token.socket_dir))
        settled = (await stage.events("budget.settled"))[0].data
        assert (settled.tokens, settled.calls) == (15, 1)

    with StubModel(lambda _: "hello") as stub:
        stage.kernel.run(story(stub))


def test_the_same_token_request_issues_one_grant(stage: Stage) -> None:
    async def story() -> None:
        await stage.open("http://127.0.0.1:9/v1")
        first, second = await stage.token(), await stage.token()
        assert first == second
        assert len(await stage.events("grant.issued", "budget.reserved")) == 2

    stage.kernel.run(story())


def test_a_trial_costs_nothing_and_leaves_no_call(stage: Stage) -> None:
    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url)
        token = await stage.token("trial", "t-b-e002-a0009-0", "trial")
        async with organism(token) as http:
            answer = await (await http.post(CHAT, json=HI)).json()
            published = await http.post("/memory", json={"kind": "finding", "summary": "x"})
        assert 'final_answer("trial")' in answer["choices"][0]["message"]["content"]
        assert published.status == 201
        assert stub.chats == []
        assert [e.envelope.type for e in await stage.events()][2:] == ["grant.issued"]

    with StubModel(lambda _: "hello") as stub:
        stage.kernel.run(story(stub))


def test_a_spent_budget_ends_the_work_cleanly(stage: Stage) -> None:
    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url, Budget(calls=1))
        async with organism(await stage.token()) as http:
            statuses = [(await http.post(CHAT, json=HI)).status for _ in range(3)]
            answer = await (await http.post(CHAT, json=HI)).json()
            state = await (await http.get("/budget")).json()
        assert statuses == [200, 429, 429]
        assert answer["error"]["type"] == "budget_exhausted"
        assert (state["state"], state["limits"]) == ("CRITICAL", {"calls": 1})
        assert len(await stage.events("budget.exhausted")) == 1

    with StubModel(lambda _: "hello") as stub:
        stage.kernel.run(story(stub))


def test_errors_keep_their_status(stage: Stage) -> None:
    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url)
        async with organism(await stage.token()) as http:
            assert (await http.post(CHAT, json=HI)).status == 422
            assert (await http.post(CHAT, data=b"no json")).status == 400
            assert (await http.post(CHAT, json=[])).status == 400
            assert (await http.post(CHAT, data=b" " * (5 << 20))).status == 413
        assert len(stub.chats) == 1

    with StubModel(lambda _: Reply(422, {"error": {"message": "no"}})) as stub:
        stage.kernel.run(story(stub))


def test_a_broken_answer_is_retried_inside_the_broker(stage: Stage) -> None:
    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url)
        async with organism(await stage.token()) as http:
            answer = await (await http.post(CHAT, json=HI)).json()
        assert answer["choices"][0]["message"]["content"] == "hello"
        kinds = [e.data.kind for e in await stage.events("model_call.failed")]
        assert kinds == ["empty", "contract"]

    broken = in_turn(Reply(200, raw=b""), Reply(200, raw=b"<html>"), "hello")
    with StubModel(broken) as stub:
        stage.kernel.run(story(stub))


def test_lone_surrogates_and_nul_do_not_pass(stage: Stage) -> None:
    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url)
        message = {"role": "user", "content": "a\ud800b"}
        async with organism(await stage.token()) as http:
            answer = await http.post(CHAT, data=json.dumps({"messages": [message]}))
            noted = await http.post(
                "/memory", data=json.dumps({"kind": "finding", "summary": "x\x00\udc00y"})
            )
        assert (answer.status, noted.status) == (200, 201)
        assert stub.chats[0]["messages"][0]["content"] == "a\ufffdb"
        assert (await stage.events("memory.published"))[0].data.summary == "x\ufffdy"

    with StubModel(lambda _: "hello") as stub:
        stage.kernel.run(story(stub))


def test_a_stream_is_the_recorded_answer(stage: Stage) -> None:
    async def story(stub: StubModel) -> None:
        await stage.open(stub.base_url)
        async with organism(await stage.token()) as http:
            text = await (await http.post(CHAT, json={**HI, "stream": True})).text()
        lines = [line.removeprefix("data: ") for line in text.split("\n\n") if line]
        assert lines[-1] == "[DONE]"
        assert json.loads(lines[0])["choices"][0]["delta"]["content"] == "hello"
        assert "stream" not in stub.chats[0]

    with StubModel(lambda _: "hello") as stub:
        stage.kernel.run(story(stub))


def test_memory_is_found_by_those_who_may_see_it(stage: Stage) -> None:
    """Own at once, the population's from the next barrier on, the parent's up to the birth."""

    async def story() -> None:
        await stage.open("http://127.0.0.1:9/v1")
        async with organism(await stage.token("a0001")) as one:
            for summary, visibility in (("кругЪ private", "own"), ("кругъ shared", "population")):
                note = {"kind": "finding", "summary": summary, "visibility": visibility}
                assert (await one.post("/memory", json=note)).status == 201
                assert (await one.post("/memory", json=note)).status == 201
            born = AgentBorn(agent="a0003", genome=GENOME, birth_epoch=2, memory_from="a0001")
            await stage.kernel.say("evolver", stage.run, Draft("a0003", born))
            later = {"kind": "finding", "summary": "круг later", "visibility": "own"}
            await one.post("/memory", json=later)
            own = await _found(one, "КРУГ")
        assert len(await stage.events("memory.published")) == 3
        assert sorted(own.values()) == ["own"] * 3
        async with organism(await stage.token("a0002")) as two:
            assert await _found(two, "круг") == {}
            await stage.barrier()
            assert await _found(two, "круг") == {"кругъ shared": "population"}
            assert await _found(two, "nothing") == {}
        async with organism(await stage.token("a0003")) as child:
            assert await _found(child, "") == {
                "кругЪ private": "inherited", "кругъ shared": "inherited"
            }  # fmt: skip

    stage.kernel.run(story())


async def _found(http, query: str) -> dict[str, str]:  # type: ignore[no-untyped-def]
    answer = await http.get("/memory", params={"q": query, "limit": "50"})
    assert answer.status == 200
    return {r["summary"]: r["scope"] for r in (await answer.json())["records"]}


def test_nobody_rates_itself_or_its_line(stage: Stage) -> None:
    async def story() -> None:
        await stage.open("http://127.0.0.1:9/v1")
        async with organism(await stage.token("a0001")) as one:
            note = {"kind": "finding", "summary": "good", "visibility": "population"}
            record = (await (await one.post("/memory", json=note)).json())["record"]
            vote = {"record": record, "value": 1}
            assert (await one.post("/memory/ratings", json=vote)).status == 403
        born = AgentBorn(agent="a0003", genome=GENOME, birth_epoch=2, memory_from="a0001")
        await stage.kernel.say("evolver", stage.run, Draft("a0003", born))
        async with organism(await stage.token("a0003")) as child:
            assert (await child.post("/memory/ratings", json=vote)).status == 403
        async with organism(await stage.token("a0002")) as two:
            assert (await two.post("/memory/ratings", json={**vote, "value": 5})).status == 400
            assert (await two.post("/memory/ratings", json={**vote, "record": "m"})).status == 404
            scores = []
            for value in (None, -1, 1):
                if value:
                    rated = await two.post("/memory/ratings", json={**vote, "value": value})
                    assert rated.status == 201
                await stage.barrier()
                scores.append(await _score(two))
            plain, worse, better = scores
            assert worse < plain < better

    stage.kernel.run(story())


async def _score(http) -> float:  # type: ignore[no-untyped-def]
    records = (await (await http.get("/memory")).json())["records"]
    score: float = records[0]["score"]
    return score


def test_the_database_itself_hides_other_lines_and_runs(stage: Stage) -> None:
    """Row-level security binds the tables' owner: without the settings there is nothing."""
    import asyncpg

    async def story() -> None:
        await stage.open("http://127.0.0.1:9/v1")
        async with organism(await stage.token("a0001")) as one:
            note = {"kind": "finding", "summary": "mine", "visibility": "own"}
            await one.post("/memory", json=note)
            assert await _found(one, "") == {"mine": "own"}
        connection = await asyncpg.connect(stage.kernel.context("broker").platform.dsn["broker"])
        try:
            assert await connection.fetchval("select count(*) from memories") == 0
            for run, line, seen in (
                (stage.run, "a0001", 1), (stage.run, "a0002", 0), ("other", "a0001", 0)
            ):  # fmt: skip
                await connection.execute(
                    "select set_config('kadath.run', $1, false), "
                    "set_config('kadath.line', $2, false)", run, line,
                )  # fmt: skip
                assert await connection.fetchval("select count(*) from memories") == seen
        finally:
            await connection.close()

    stage.kernel.run(story())


def test_activity_is_kept_for_its_agent_alone(stage: Stage) -> None:
    async def story() -> None:
        await stage.open("http://127.0.0.1:9/v1")
        async with organism(await stage.token("a0001")) as one:
            line = {"summary": "did it", "outcome": "ok", "next_step": "", "strategy": ""}
            assert (await one.post("/activity", json=line)).status == 201
            assert (await one.post("/activity", json={"summary": 3})).status == 400
            bad = {"kind": "epoch_report", "summary": "x", "visibility": "population"}
            assert (await one.post("/memory", json=bad)).status == 400
        published = (await stage.events("memory.published"))[0].data
        assert (published.kind, published.visibility) == ("activity", "own")

    stage.kernel.run(story())
