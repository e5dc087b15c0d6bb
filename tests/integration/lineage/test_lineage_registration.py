"""Proposals on a real kernel: committed, rejected, and drawn into git."""

from dulwich.repo import Repo

from schemas.events.genome import GenomeCommitted, GenomeRejected, GenomeStaged
from services.kit.trees import get_tree
from services.lineage.effects import git
from tests.integration.lineage.story import RUN, Story, play


def test_genesis_registers_one_genome_per_variant_and_git_holds_each() -> None:
    """Same identity on every machine; tag and branch point at the commit."""

    async def scene(story: Story) -> None:
        await story.request()
        await story.preflight()
        await story.lock()
        genomes = await story.genesis()
        assert len(set(genomes)) == 4
        first = story.view.genomes[genomes[0]]
        files = {f.path: f for f in get_tree(story.lineage.blobs, first.files.sha256).files}
        assert b"number 1" in story.lineage.blobs.read(files["SYSTEM_PROMPT.md"].sha256)
        assert "solver.py" in files
        assert not any(path.startswith(".champion") for path in files)

        def drawn() -> bool:
            refs = Repo(str(git.folder(story.lineage, RUN))).refs
            return all(f"refs/tags/genome/{g}".encode() in refs for g in genomes)

        await story.until(drawn)
        repo = Repo(str(git.folder(story.lineage, RUN)))
        commit = repo[repo.refs[b"refs/heads/a0001"]]
        assert commit.id.decode() == first.commit
        assert commit.tree.decode() == first.tree

    play(scene)


def test_a_code_change_is_tried_first_and_prose_is_committed_at_once() -> None:
    """Staged, tried, committed or rejected with the end of the log; equal content is refused."""

    async def scene(story: Story) -> None:
        await story.request()
        await story.preflight()
        await story.lock()
        parent = (await story.genesis())[0]
        code = {"files": [{"path": "solver.py", "text": "VALUE = 2\n"}]}
        await story.birth("b-e001-a0009-0", parent, code)
        await story.until(lambda: story.of(GenomeStaged))
        await story.trial("b-e001-a0009-0", "failed", b"Traceback: boom")
        rejected = (await story.until(lambda: story.of(GenomeRejected)))[-1]
        assert rejected.reason == "trial_failed"
        assert "boom" in rejected.detail
        await story.birth("b-e001-a0009-1", parent, code)
        await story.until(lambda: "b-e001-a0009-1" in story.view.staged)
        await story.trial("b-e001-a0009-1", "cancelled")
        assert "b-e001-a0009-1" in story.view.staged
        await story.birth("b-e001-a0009-2", parent, code)
        await story.until(lambda: "b-e001-a0009-2" in story.view.staged)
        await story.trial("b-e001-a0009-2", "completed")
        await story.until(lambda: len(story.view.genomes) == 5)
        await story.birth("b-e001-a0009-3", parent, code)
        rejected = (await story.until(lambda: story.of(GenomeRejected)[1:]))[-1]
        assert rejected.reason == "duplicate"
        assert rejected.duplicate_of == list(story.view.genomes)[-1]
        await story.birth("b-e001-a0009-4", parent, {"prompt": "Think twice.\n"})
        await story.until(lambda: len(story.view.genomes) == 6)
        assert story.of(GenomeCommitted)[-1].origin == "birth"

    play(scene)


def test_what_cannot_be_applied_is_rejected_and_stops_nobody() -> None:
    """A broken proposal has a reason; the next one is registered."""

    async def scene(story: Story) -> None:
        await story.request()
        await story.preflight()
        await story.lock()
        parent = (await story.genesis())[0]
        cases = {
            "no_change": {"files": [{"path": "solver.py", "text": "VALUE = 1\n"}]},
            "unsafe_path": {"files": [{"path": ".GIT/config", "text": "x"}]},
            "invalid": {"delete": ["organism.py"]},
        }
        for number, (reason, mutation) in enumerate(cases.items()):
            await story.birth(f"b-e001-a0009-{number}", parent, mutation)
            rejected = await story.until(lambda n=number: story.of(GenomeRejected)[n:])
            assert rejected[0].reason == reason
        await story.birth("b-e001-a0010-0", "f" * 64, {"prompt": "x"})
        assert (await story.until(lambda: story.of(GenomeRejected)[3:]))[0].reason == "invalid"
        await story.birth("b-e001-a0011-0", parent, {"prompt": "Still here.\n"})
        await story.until(lambda: len(story.view.genomes) == 5)

    play(scene)
