"""What the read API shows of a real run, and that it can be had again from the log."""

import asyncpg
import httpx

from kadath import keys, postgres
from schemas.events.agent import AgentBorn
from schemas.events.model_call import Caller, ModelCallRecorded
from schemas.values.runtime import Usage
from services.kit.projections import Projector
from services.lineage.projections.projection import open_pool, projection
from services.lineage.projections.rebuild import create_tables, digests, rebuild
from tests.integration.lineage.story import RUN, ZERO, Story, blob, play


def client(story: Story) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {story.lineage.resources['api_token']}"}
    return httpx.AsyncClient(base_url=story.lineage.resources["api_url"], headers=headers)


async def live(story: Story) -> list[str]:
    """A run of one epoch with four agents and a call."""
    await story.request()
    await story.preflight()
    await story.lock()
    genomes = await story.genesis()
    for number, genome in enumerate(genomes, start=1):
        name = f"a{number:04d}"
        await story.say("evolver", name, AgentBorn(agent=name, genome=genome, birth_epoch=1), 1)
    call = ModelCallRecorded(
        call="c1", key=ZERO, tape_key=ZERO, caller=Caller(kind="organism", name="a0001"),
        purpose="epoch", model="offline", request=blob(b"{}"), response=blob(b"{}"), finish="stop",
        usage=Usage(prompt=10, completion=5), latency_ms=1, tries=1,
    )  # fmt: skip
    await story.say("broker", "c1", call, 1)
    await story.epoch(1, genomes)
    return genomes


def test_the_api_answers_every_question_about_a_run() -> None:
    """Runs, board, epochs, population, lineage, usage, activity, files and diffs."""

    async def scene(story: Story) -> None:
        genomes = await live(story)
        await story.birth("b-e001-a0009-0", genomes[0], {"prompt": "Think twice.\n"})
        await story.until(lambda: len(story.view.genomes) == 5)
        async with client(story) as api:
            reached = (await api.get("/api/wait", params={"seq": story.view.seq})).json()
            assert reached["reached"]
            assert (await api.get("/api/runs")).json()["runs"][0]["run"] == RUN
            run = (await api.get(f"/api/runs/{RUN}")).json()
            assert (run["status"], run["epoch"], run["champion_score"]) == (
                "running", 1, "99.000000",
            )  # fmt: skip
            board = (await api.get(f"/api/runs/{RUN}/leaderboard")).json()["rows"]
            assert [row["agent"] for row in board] == ["a0001", "a0002", "a0003", "a0004"]
            epoch = (await api.get(f"/api/runs/{RUN}/epochs")).json()["epochs"][0]
            assert (epoch["best"], epoch["median"], epoch["worst_top_half"]) == (
                "99.000000", "97.500000", "98.000000",
            )  # fmt: skip
            people = (await api.get(f"/api/runs/{RUN}/population")).json()["population"]
            assert [p["last_rank"] for p in people] == [1, 2, 3, 4]
            usage = (await api.get(f"/api/runs/{RUN}/usage")).json()
            assert usage["roles"][0]["prompt_tokens"] == 10
            activity = (await api.get(f"/api/runs/{RUN}/activity")).json()["activity"]
            assert activity[0]["event"] == "genome.committed"
            child = list(story.view.genomes)[-1]
            lineage = (await api.get(f"/api/runs/{RUN}/lineage")).json()
            assert len(lineage["genomes"]) == 5
            path = f"/api/runs/{RUN}/genomes/{child}"
            assert "+Think twice." in (await api.get(f"{path}/diff")).json()["diff"]
            files = (await api.get(f"{path}/files")).json()["files"]
            assert "organism.py" in {file["path"] for file in files}
            text = (await api.get(f"{path}/files", params={"path": "solver.py"})).json()["text"]
            assert text == "VALUE = 1\n"

    play(scene)


def test_strangers_get_nothing() -> None:
    """No token, a foreign origin, a foreign host: refused. Health is open."""

    async def scene(story: Story) -> None:
        url = story.lineage.resources["api_url"]
        async with client(story) as api, httpx.AsyncClient(base_url=url) as stranger:
            assert (await stranger.get("/healthz")).json()["ok"]
            assert (await stranger.get("/api/runs")).status_code == 401
            foreign = {"Origin": "http://evil.example"}
            assert (await api.get("/api/runs", headers=foreign)).status_code == 403
            rebound = {"Host": "evil.example:80"}
            assert (await api.get("/api/runs", headers=rebound)).status_code == 421
            assert (await api.get("/api/runs/nope")).status_code == 404

    play(scene)


def test_rebuilding_and_repeating_give_the_same_rows() -> None:
    """Digests of the live tables, of tables that heard everything twice, and of rebuilt ones."""

    async def scene(story: Story) -> None:
        await live(story)
        context = story.lineage
        pool: asyncpg.Pool = context.resources["pool"]
        await context.resources["projector"].wait_for(story.view.seq)
        heard, read = list(story.heard), context.blobs.get
        first = await digests(pool)
        await Projector(pool, (projection(read),)).apply(heard)
        assert await digests(pool) == first
        assert await rebuild(pool, heard, read) == first

    play(scene)


def test_a_second_empty_database_gets_the_same_rows() -> None:
    """Nothing of a read model is known to its database alone."""

    async def scene(story: Story) -> None:
        await live(story)
        context = story.lineage
        await context.resources["projector"].wait_for(story.view.seq)
        platform = context.platform
        password = keys.load(platform.home).passwords["postgres"]
        root = await asyncpg.connect(postgres.dsn(platform.sockets, "postgres", password))
        await root.execute("create database second")
        await root.close()
        address = postgres.dsn(platform.sockets, "postgres", password)
        root = await asyncpg.connect(address, database="second")
        await root.execute("create schema lineage authorization lineage")
        await root.close()
        second = await open_pool(platform.dsn["lineage"].replace("/kadath?", "/second?"))
        await create_tables(second)
        rows = await rebuild(second, list(story.heard), context.blobs.get)
        assert rows == await digests(context.resources["pool"])
        await second.close()

    play(scene)
