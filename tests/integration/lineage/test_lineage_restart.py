"""A kernel that comes back: nothing is registered, drawn or counted twice."""

from pathlib import Path

from dulwich.repo import Repo

from schemas.events.export import ExportCompleted
from services.kit.streams import LEASE_SECONDS
from services.lineage.core.chain import head_of
from services.lineage.effects import git
from services.lineage.exporting.log import read_log
from services.lineage.projections.rebuild import digests
from tests.integration.lineage.story import RUN, Story, in_a_home, kernel
from tests.integration.lineage.test_lineage_export import export


async def first_life(story: Story, lost: bool) -> tuple[str, dict[str, str]]:
    await story.request()
    await story.preflight()
    await story.lock()
    genomes = await story.genesis()
    await story.epoch(1, genomes)
    await story.until(lambda: story.view.headed_up_to >= story.view.boundary_seq)
    projector = story.lineage.resources["projector"]
    await projector.wait_for(story.view.seq)
    if lost:  # as if the kernel had died before anything was projected
        async with story.lineage.resources["pool"].acquire() as connection:
            await projector.reset(connection)
    return story.view.chain_head, await digests(story.lineage.resources["pool"])


def test_a_second_life_goes_on_where_the_first_one_ended(tmp_path: Path) -> None:
    """Chain, read models and repository are what they were; the next proposal is registered."""

    async def both(folder: Path) -> None:
        async with kernel(folder) as story:
            head, rows = await first_life(story, lost=False)
        async with kernel(folder) as story:
            lines = await read_log(story.lineage.client, RUN, story.view.seq)
            assert story.view.chain_head == head_of(line.body for line in lines) == head
            await story.lineage.resources["projector"].wait_for(story.view.seq)
            again = await digests(story.lineage.resources["pool"])
            assert again == rows
            parent = next(iter(story.view.genomes))
            await story.birth("b-e001-a0009-0", parent, {"prompt": "Again.\n"})
            await story.until(lambda: len(story.view.genomes) == 5)
            await export(story, tmp_path / "run")
            await story.until(lambda: story.of(ExportCompleted), LEASE_SECONDS * 3)
            repo = Repo(str(git.folder(story.lineage, RUN)))
            tags = [r for r in repo.refs.allkeys() if r.startswith(b"refs/tags/genome/")]
            assert len(tags) >= 4

    in_a_home(both)


def test_lost_rows_are_read_from_the_log_at_the_next_start() -> None:
    """A projection that is empty catches up before the API answers."""

    async def both(folder: Path) -> None:
        async with kernel(folder) as story:
            await first_life(story, lost=True)
        async with kernel(folder) as story:
            pool = story.lineage.resources["pool"]
            assert await pool.fetchval("select count(*) from leaderboard") == 4
            assert await pool.fetchval("select status from epochs") == "closed"

    in_a_home(both)
