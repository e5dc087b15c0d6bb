"""An export stands by itself: it runs, it verifies, and it betrays every changed byte."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from dulwich.repo import Repo

from kadath import nats_server
from kadath.audit.redecide import redecide
from kadath.audit.verify import MANIFEST, SIGNED_BY, read_lines, verify
from schemas import canonical
from schemas.commands.export import ExportRun
from schemas.events.agent import AgentBorn
from schemas.events.chain import ChainHeaded
from schemas.events.export import ExportCompleted, ExportFailed
from schemas.events.genome import GenomeRejected
from services.kit import commands, edges
from services.lineage.core.chain import head_of
from services.lineage.exporting.champion import write_champion
from services.lineage.exporting.signing import fingerprint_of, sign
from tests.integration.lineage.story import RUN, Story, play


async def export(story: Story, path: Path, run: str = RUN) -> None:
    platform = story.lineage.platform
    operator = await nats_server.connect_operator(platform.nats_url, platform.nkeys["operator"])
    try:
        command = ExportRun(run=run, command=edges.uuid7(), path=str(path))
        await commands.send(operator, "lineage", command)
    finally:
        await operator.close()


async def told(story: Story) -> list[str]:
    """A run with a code change, a rejection, a board and an end."""
    await story.request()
    await story.preflight()
    await story.lock()
    genomes = await story.genesis()
    code = {"files": [{"path": "solver.py", "text": "VALUE = 2.5\n"}]}
    await story.birth("b-e001-a0009-0", genomes[0], code)
    await story.until(lambda: story.view.staged)
    await story.trial("b-e001-a0009-0", "completed")
    await story.until(lambda: len(story.view.genomes) == 5)
    await story.birth("b-e001-a0009-1", genomes[0], code)
    await story.until(lambda: story.of(GenomeRejected))
    best = list(story.view.genomes)[-1]
    await story.say("evolver", "a0001", AgentBorn(agent="a0001", genome=best, birth_epoch=1), 1)
    await story.epoch(1, [best, *genomes])
    await story.complete(best)
    return [best, *genomes]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """One exported run and the fingerprint of who signed it."""
    target = tmp_path_factory.mktemp("export") / "run"
    signer: list[str] = []

    async def scene(story: Story) -> None:
        await told(story)
        await export(story, target)
        await story.until(lambda: story.of(ExportCompleted) or story.of(ExportFailed))
        assert not story.of(ExportFailed)
        signer.append(fingerprint_of(story.lineage.platform.keys["sign"]))
        assert len(story.of(ChainHeaded)) >= 2
        report = redecide(story.heard, story.lineage.blobs.get)
        assert (report.mismatches, report.decided) == ([], report.matched)

    play(scene)
    return target, signer[0]


def copy(source: Path, to: Path) -> Path:
    shutil.copytree(source, to / "run")
    return to / "run"


def test_an_export_verifies_and_every_decision_is_made_again(exported: tuple[Path, str]) -> None:
    """Signer known by fingerprint; without one only consistency is claimed."""
    folder, fingerprint = exported
    report = verify(folder, fingerprint)
    assert (report.problems, report.verdict) == ([], "verified")
    assert report.redecided is not None
    assert report.redecided.decided == report.redecided.matched >= 8
    assert verify(folder).verdict == "consistent, signer unknown"
    assert not verify(folder, "0" * 64).ok


def test_the_champion_runs_by_itself(exported: tuple[Path, str], tmp_path: Path) -> None:
    """run.py and score.py of the starter print the same six digits, without kernel and model."""
    folder = copy(exported[0], tmp_path)
    printed = [
        subprocess.run(
            [sys.executable, f"champion/{name}"], cwd=folder, capture_output=True, check=True
        ).stdout
        for name in ("run.py", "score.py")
    ]
    assert printed == [b"2.500000\n", b"2.500000\n"]
    assert verify(folder, exported[1]).ok


def test_the_final_population_and_its_differences_are_there(exported: tuple[Path, str]) -> None:
    """Each active agent as a directory, and as a diff against seed and parent."""
    agent = exported[0] / "final-population" / "a0001"
    assert (agent / "solver.py").read_text() == "VALUE = 2.5\n"
    assert (agent / "organism.py").is_file()
    for origin in ("seed", "parent"):
        text = (exported[0] / "framework-diffs" / f"a0001.{origin}.diff").read_text()
        assert "+VALUE = 2.5" in text


def test_a_run_that_never_began_can_be_exported(tmp_path: Path) -> None:
    """No champion, no repository content; still consistent."""

    async def scene(story: Story) -> None:
        await story.request()
        await export(story, tmp_path / "run")
        assert await story.until(lambda: story.of(ExportCompleted))

    play(scene)
    assert verify(tmp_path / "run").problems == []


def test_the_repository_of_an_export_is_complete(exported: tuple[Path, str]) -> None:
    """Every genome's tag leads to its files."""
    repo = Repo(str(exported[0] / "git-repository"))
    tags = [ref for ref in repo.refs.allkeys() if ref.startswith(b"refs/tags/genome/")]
    assert len(tags) == 5
    for tag in tags:
        tree = repo[repo[repo.refs[tag]].tree]
        assert b"organism.py" in tree
        assert repo[tree[b"SYSTEM_PROMPT.md"][1]].data


@pytest.mark.parametrize("part", ["events.jsonl", "blobs", "champion", "git-repository"])
def test_one_flipped_byte_is_found(exported: tuple[Path, str], part: str, tmp_path: Path) -> None:
    """Anywhere in the log, the blobs or the champion."""
    folder = copy(exported[0], tmp_path)
    place = folder / part
    files = [place] if place.is_file() else sorted(p for p in place.rglob("*") if p.is_file())
    for path in files[:: max(len(files) // 8, 1)]:
        original = path.read_bytes()
        if not original:
            continue
        changed = bytearray(original)
        changed[len(changed) // 2] ^= 1
        path.write_bytes(changed)
        assert not verify(folder, exported[1]).ok, path
        path.write_bytes(original)
    assert verify(folder, exported[1]).ok


def test_a_consistent_forgery_is_found(exported: tuple[Path, str], tmp_path: Path) -> None:
    """Hashes, head and signature put right after an edit: recorded heads and decisions differ."""
    folder = copy(exported[0], tmp_path)
    path = folder / "events.jsonl"
    text = path.read_bytes()
    forged = text.replace(b'"reason":"duplicate"', b'"reason":"no_change"')
    assert forged != text
    path.write_bytes(forged)
    resign(folder)
    problems = verify(folder).problems
    assert any(problem.startswith("the chain up to") for problem in problems)
    assert any(problem.startswith("lineage/register@1") for problem in problems)
    assert not any("signature" in problem for problem in problems)
    assert any("signed by" in problem for problem in verify(folder, exported[1]).problems)


def resign(folder: Path) -> None:
    """What a forger with a key of his own can put right."""
    manifest = json.loads((folder / MANIFEST).read_text())
    content = {name: value for name, value in manifest.items() if name not in SIGNED_BY}
    log = (folder / "events.jsonl").read_bytes()
    for file in content["files"]:
        if file["path"] == "events.jsonl":
            file["sha256"] = hashlib.sha256(log).hexdigest()
    bodies = [line.body for line in read_lines(folder / "events.jsonl")]
    content["chain"]["head"] = head_of(bodies)
    content["log_sha256"] = hashlib.sha256(log).hexdigest()
    signed = {**content, **sign(b"forger", canonical(content))._asdict()}
    (folder / MANIFEST).write_text(json.dumps(signed, indent=1, sort_keys=True) + "\n")


def test_missing_and_unlisted_files_are_found(exported: tuple[Path, str], tmp_path: Path) -> None:
    """The set of files is part of what is signed."""
    folder = copy(exported[0], tmp_path)
    (folder / "champion" / "extra.py").write_text("x")
    assert "champion/extra.py is not listed" in verify(folder).problems
    (folder / "champion" / "extra.py").unlink()
    (folder / "lineage.json").unlink()
    assert "lineage.json is missing" in verify(folder).problems


def test_an_export_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    """A place that exists, a run nobody knows; the champion alone is a library call."""

    async def scene(story: Story) -> None:
        await told(story)
        (tmp_path / "there").mkdir()
        await export(story, tmp_path / "there")
        failed = await story.until(lambda: story.of(ExportFailed))
        assert "exists already" in failed[0].reason
        with pytest.raises(commands.Denied):
            await export(story, tmp_path / "x", run="r20260101-000000-000000")
        best = write_champion(story.lineage.blobs, story.view, tmp_path / "champion")
        assert best is not None
        assert (tmp_path / "champion" / "solver.py").read_text() == "VALUE = 2.5\n"

    play(scene)
