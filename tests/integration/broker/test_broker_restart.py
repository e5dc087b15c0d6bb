"""What survives a restart, and what a tape answers."""

from pathlib import Path

import aiohttp
import pytest

from schemas.values.capability import Capability
from services.broker.effects.web import CORPUS
from tests.integration.broker.stage import CAST, HI, VARIANTS, Stage, organism
from tests.support.kernel import kernel
from tests.support.stub_model import StubModel

WEB: tuple[Capability, ...] = ("web_search", "web_fetch")
FIRST, SECOND = "r20260101-000000-00000a", "r20260101-000000-00000b"


def _script(body: dict[str, object]) -> str:
    return VARIANTS if "response_format" in body else "hello"


def test_journal_tokens_and_memory_survive_and_a_tape_replays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a restart nothing is asked twice; on a tape nothing is asked at all."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "hexagon.md").write_text("dense")
    monkeypatch.setenv(CORPUS, str(corpus))
    with StubModel(_script) as stub:
        with kernel(tmp_path, *CAST, keep=True) as found:
            before = found.run(_live(Stage(found, FIRST), stub.base_url))
        with kernel(tmp_path, *CAST, keep=True) as found:
            assert found.run(_again(Stage(found, FIRST))) == before
        assert len(stub.chats) == 2
    (corpus / "hexagon.md").unlink()
    with kernel(tmp_path, *CAST, tape=FIRST) as found:
        found.run(_taped(Stage(found, SECOND)))


async def _live(stage: Stage, url: str) -> tuple[str, str]:
    await stage.open(url, tools=WEB)
    return await _work(stage)


async def _work(stage: Stage) -> tuple[str, str]:
    completed = await stage.complete()
    token = await stage.token()
    async with organism(token) as http:
        answer = await http.post("/v1/chat/completions", json=HI)
        await http.post("/memory", json={"kind": "finding", "summary": "kept"})
        assert answer.status == 200
        assert await _found(http) == ["corpus:hexagon.md"]
        assert (await http.get("/web/page?url=http://10.0.0.1/")).status == 403
    return completed["content"]["sha256"], token.token


async def _found(http: aiohttp.ClientSession) -> list[str]:
    found = await (await http.get("/web/search?q=dense")).json()
    return [item["url"] for item in found["results"]]


async def _again(stage: Stage) -> tuple[str, str]:
    done = await _work(stage)
    async with organism(await stage.token()) as http:
        records = (await (await http.get("/memory")).json())["records"]
        assert [record["summary"] for record in records] == ["kept"]
    return done


async def _taped(stage: Stage) -> None:
    """The text is gone from the disk; its record answers, and what was refused stays so."""
    await stage.open("http://127.0.0.1:9/v1", tools=WEB)
    await _work(stage)
    kinds = [r.envelope.type for r in await stage.events("egress.answered", "egress.refused")]
    assert kinds == ["egress.answered", "egress.refused"]
    missed = await stage.complete(about="never asked")
    assert (missed["kind"], missed["retryable"]) == ("refused", False)
    assert "tape" in missed["detail"]
    async with organism(await stage.token("a0002")) as http:
        assert (await http.post("/v1/chat/completions", json=HI)).status == 409
