"""Search and fetch through the gateway: approved or refused, and on record either way."""

import json
from pathlib import Path

import pytest

from services.broker.core import egress
from services.broker.effects.web import CORPUS, Web
from tests.integration.broker.stage import Stage, organism

PLACES = {
    "/web/search?q=x": "web_search",
    "/web/page?url=http://example.org": "web_fetch",
    "/browser": "browser",
    "/browser/mcp": "browser",
    "/workers": "workers",
    "/workers/w1/answer": "workers",
}


@pytest.fixture
def corpus(tmp_path: Path, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of texts that this kernel's searches go to."""
    (tmp_path / "hexagon.md").write_text("Hexagonal packing is dense. Größe zählt.")
    (tmp_path / "square.html").write_text("<p>A square grid is simple.")
    (tmp_path / "secret.bin").write_text("hexagonal, but no text file")
    monkeypatch.setenv(CORPUS, str(tmp_path))
    monkeypatch.setitem(stage.kernel.context("broker").resources, "web", Web())
    return tmp_path


def test_what_was_not_approved_is_refused_with_an_event(stage: Stage) -> None:
    """Whatever the organism's code says: each capability, each way to it."""

    async def story() -> None:
        await stage.open(None, tools=())
        async with organism(await stage.token()) as http:
            for method in ("GET", "POST", "DELETE"):
                answers = [await http.request(method, place) for place in PLACES]
                assert {answer.status for answer in answers} <= {403, 405}
            assert (await http.get("/web/search?q=x")).status == 403
        refused = [r.data for r in await stage.events("egress.refused")]
        assert {event.capability for event in refused} == set(PLACES.values())
        assert all("not approved" in event.reason for event in refused)
        assert {event.attempt for event in refused} == {"e001x1-a0001"}

    stage.kernel.run(story())


def test_approved_search_is_answered_and_recorded(stage: Stage, corpus: Path) -> None:
    """Only what was approved: search does not open fetch."""

    async def story() -> None:
        await stage.open(None, tools=("web_search",))
        async with organism(await stage.token()) as http:
            asked = {"q": 'größe HEXAGONAL "; drop', "limit": 3}
            answer = await http.get("/web/search", params=asked)
            found = (await answer.json())["results"]
            assert [item["url"] for item in found] == ["corpus:hexagon.md"]
            assert "Größe" in found[0]["snippet"]
            assert (await (await http.get("/web/search?q=zzz")).json())["results"] == []
            assert (await http.get("/web/search?q=x&limit=many")).status == 400
            assert (await http.get("/web/page?url=corpus:hexagon.md")).status == 403
        first = (await stage.events("egress.answered"))[0].data
        kept = stage.kernel.context("broker").blobs.get(first.answer)
        assert json.loads(kept)["results"] == found

    stage.kernel.run(story())


def test_a_page_of_the_corpus_can_be_read_and_nothing_else_of_the_disk(
    stage: Stage, corpus: Path
) -> None:
    async def story() -> None:
        await stage.open(None, tools=("web_fetch",))
        async with organism(await stage.token()) as http:
            page = await (await http.get("/web/page?url=corpus:hexagon.md")).json()
            assert page["text"].startswith("Hexagonal") and not page["truncated"]
            for name in ("../../etc/passwd", "secret.bin", "/etc/passwd", "hexagon.md%00"):
                assert (await http.get(f"/web/page?url=corpus:{name}")).status == 502

    stage.kernel.run(story())


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8700/", "http://127.0.0.1/", "http://localhost/", "http://2130706433/",
        "http://[::ffff:127.0.0.1]/", "http://169.254.169.254/latest/meta-data/",
        "http://a:b@example.org/", "file:///etc/passwd", "gopher://x/",
    ],
)  # fmt: skip
def test_what_is_not_public_is_refused_with_an_event(stage: Stage, url: str) -> None:
    async def story() -> None:
        await stage.open(None, tools=("web_fetch",))
        async with organism(await stage.token()) as http:
            assert (await http.get("/web/page", params={"url": url})).status == 403
        (refused,) = [r.data for r in await stage.events("egress.refused")]
        assert refused.capability == "web_fetch" and refused.reason

    stage.kernel.run(story())


def test_a_host_that_the_run_does_not_list_is_refused(stage: Stage) -> None:
    async def story() -> None:
        await stage.open(None, tools=("web_fetch",), hosts=("*.example.org",))
        async with organism(await stage.token()) as http:
            assert (await http.get("/web/page?url=https://example.net/")).status == 403
        (refused,) = [r.data for r in await stage.events("egress.refused")]
        assert (refused.host, refused.port) == ("example.net", 443)

    stage.kernel.run(story())


def test_a_flood_of_web_calls_makes_no_flood_of_events(stage: Stage) -> None:
    async def story() -> None:
        await stage.open(None, tools=("web_fetch",))
        async with organism(await stage.token()) as http:
            statuses = [
                (await http.get("/web/page?url=http://10.0.0.1/")).status
                for _ in range(egress.MAX_CALLS + 20)
            ]
        assert statuses.count(403) == egress.MAX_CALLS and statuses[-1] == 429
        assert len(await stage.events("egress.refused")) == egress.MAX_CALLS

    stage.kernel.run(story())


def test_a_trial_reaches_nothing(stage: Stage) -> None:
    """It only has to start."""

    async def story() -> None:
        await stage.open(None, tools=("web_fetch", "web_search"))
        async with organism(await stage.token(purpose="trial")) as http:
            assert (await http.get("/web/search?q=x")).status == 200
            assert (await http.get("/web/page?url=http://10.0.0.1/")).status == 200
        assert not await stage.events("egress.answered", "egress.refused")

    stage.kernel.run(story())
