"""A real kernel with lineage alone; the other services only say what they are told to say."""

import asyncio
import contextlib
import json
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kadath import embedded, home
from schemas import BlobRef, Draft, Event, Recorded, TreeRef, canonical, digest, ref_of, rows
from schemas.events import SERVICES
from schemas.events.attempt import AttemptFinished
from schemas.events.birth import BirthMutationDrafted
from schemas.events.epoch import EpochClosed, EpochOpened
from schemas.events.genesis import GenesisVariantsDrafted, Variant
from schemas.events.leaderboard import LeaderboardPublished
from schemas.events.run import (
    Champion,
    RequiredCheck,
    RunCompleted,
    RunLocked,
    RunPreflightRequested,
    RunRequested,
)
from schemas.values.population import RankedRow
from schemas.values.runtime import Limits, Models, Runtime
from services.kit.runner import Running
from services.kit.service import ReadBlob, Service
from services.kit.trees import put_files
from services.lineage.service import SERVICE

RUN = "r20260101-000000-abcdef"
ZERO = "0" * 64
LIMITS = Limits()
STARTER = {
    "solver.py": b"VALUE = 1\n",
    ".champion/run.py": (
        b"import json, pathlib\nhere = pathlib.Path(__file__).parent\n"
        b"scope = {}\nexec((here / 'solver.py').read_text(), scope)\n"
        b"(here / 'candidate.json').write_text(json.dumps(scope['VALUE']))\n"
        b"print(f\"{scope['VALUE']:.6f}\")\n"
    ),
    ".champion/score.py": (
        b"import json, pathlib\nhere = pathlib.Path(__file__).parent\n"
        b"print(f\"{json.loads((here / 'candidate.json').read_text()):.6f}\")\n"
    ),
}


class Silent:
    """A fold that keeps nothing: these services decide nothing here."""

    def __init__(self, run: str, read: ReadBlob) -> None:
        pass

    def apply(self, recorded: Recorded) -> None:
        pass


@dataclass
class Story:
    """Says events as their owners, and waits until lineage has answered."""

    running: Running
    heard: list[Recorded] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.running.engine.listeners.append(self.heard.append)

    @property
    def lineage(self) -> Any:
        return self.running.engine.contexts["lineage"]

    @property
    def view(self) -> Any:
        return self.lineage.view(RUN)

    async def say(
        self,
        service: str,
        entity_id: str,
        event: Event,
        epoch: int | None = None,
        blobs: tuple[bytes, ...] = (),
    ) -> int:
        context = self.running.engine.contexts[service]
        draft = Draft(entity_id, event, epoch, blobs)
        await context.transact(RUN, f"{service}/story", lambda view, now: [draft])
        return self.running.engine.runs[RUN].seq

    async def until(self, what: Callable[[], Any], seconds: float = 10) -> Any:
        """The first true answer of `what`."""
        async with asyncio.timeout(seconds):
            while not (found := what()):
                await asyncio.sleep(0.01)
        return found

    def of(self, kind: type[Event]) -> list[Any]:
        return [recorded.data for recorded in self.heard if type(recorded.data) is kind]

    async def request(self, population: int = 4) -> None:
        starter, _ = await put_files(self.lineage.blobs, STARTER)
        request = RunRequested(
            name="story",
            goal="the largest VALUE",
            epochs=2,
            population=population,
            epoch_seconds=10,
            models=Models(specialist="offline", organism="offline"),
            starter=starter,
        )
        await self.say("scheduler", "main", request)

    async def preflight(self) -> None:
        benchmark = ref_of(b"{}")
        asked = RunPreflightRequested(
            benchmark=benchmark, required=(RequiredCheck(service="lineage", check="seed"),)
        )
        await self.say("scheduler", "main", asked, blobs=(b"{}",))
        await self.until(lambda: self.view.base)

    async def lock(self) -> None:
        runtime = Runtime(
            executor="local",
            models=Models(specialist="offline", organism="offline"),
            limits=LIMITS,
            seed_sha=self.view.base.tree,
            layer_sha=ZERO,
            kernel_version="1",
        )
        locked = RunLocked(
            objective_sha=ZERO,
            benchmark=ref_of(b"{}"),
            tool_manifest=ref_of(b"[]"),
            runtime=runtime,
            runtime_sha=digest(canonical(runtime)),
            formula_version="1",
            locks_sha=ZERO,
        )
        await self.say("scheduler", "main", locked, blobs=(b"[]",))

    async def genesis(self, count: int = 4) -> list[str]:
        """`count` variants; their genome ids in slot order."""
        prompts = {f"g-a{n:04d}": f"You are number {n}.\n" for n in range(1, count + 1)}
        content = canonical(prompts)
        variants = tuple(
            Variant(slot=n, proposal=name, prompt_sha=digest(text.encode()))
            for n, (name, text) in enumerate(prompts.items(), start=1)
        )
        drafted = GenesisVariantsDrafted(batch=1, variants=variants, prompts=ref_of(content))
        await self.say("evolver", "main", drafted, blobs=(content,))
        await self.until(lambda: len(self.view.genomes) == count)
        return list(self.view.genomes)

    async def birth(self, proposal: str, parent: str, mutation: dict[str, Any]) -> None:
        content = json.dumps({"action": "mutate", "reason": "", **mutation}).encode()
        drafted = BirthMutationDrafted(
            agent="a0009",
            tries=0,
            proposal=proposal,
            parent_genome=parent,
            mutation=ref_of(content),
            call="c1",
        )
        await self.say("evolver", f"e001-{proposal}", drafted, 1, (content,))

    async def trial(self, proposal: str, outcome: Any, log: bytes = b"") -> None:
        finished = AttemptFinished(outcome=outcome, log=ref_of(log, "text/plain") if log else None)
        await self.say("sandbox", f"t-{proposal}", finished, 1, (log,) if log else ())

    async def epoch(self, number: int, genomes: list[str]) -> None:
        members = rows([])
        opened = EpochOpened(
            epoch=number, attempt_try=1, agents=members.ref, count=0, attempt_seconds=10,
            finalize_seconds=2, seed=1, locks_sha=ZERO,
        )  # fmt: skip
        await self.say("scheduler", f"e{number:03d}", opened, number, (members.content,))
        board = rows(
            RankedRow(
                rank=n, agent=f"a{n:04d}", genome=genome, outcome="success",
                score=f"{100 - n}.000000", tie_break="1.000000",
            )
            for n, genome in enumerate(genomes, start=1)
        )  # fmt: skip
        published = LeaderboardPublished(
            epoch=number, attempt_try=1, rows=board.ref, count=board.count,
            successes=board.count, failures=0,
        )  # fmt: skip
        await self.say("grader", f"e{number:03d}", published, number, (board.content,))
        closed = EpochClosed(epoch=number, next="completed")
        await self.say("scheduler", f"e{number:03d}", closed, number)

    async def complete(self, champion: str) -> None:
        best = Champion(agent="a0001", genome=champion, score="99.000000")
        done = RunCompleted(epochs_run=1, champion=best, leaderboard_sha=ZERO)
        await self.say("scheduler", "main", done)
        await self.until(lambda: self.view.headed_up_to >= self.view.boundary_seq)


@contextlib.asynccontextmanager
async def kernel(folder: Path) -> AsyncIterator[Story]:
    others = tuple(Service(name, Silent, ()) for name in SERVICES if name != "lineage")
    original = embedded.all_services
    embedded.all_services = lambda: (*others, SERVICE)
    where = home.find(folder)
    try:
        async with embedded.embedded(where) as running:
            yield Story(running)
    finally:
        embedded.all_services = original


def forget(folder: Path) -> None:
    """As root, state lies outside of the home."""
    shutil.rmtree(home.find(folder).state, ignore_errors=True)


def play(scene: Callable[[Story], Any]) -> None:
    """Run one scene in a fresh kernel."""

    async def run(folder: Path) -> None:
        async with kernel(folder) as story:
            await scene(story)

    in_a_home(run)


def in_a_home(run: Callable[[Path], Any]) -> None:
    with TemporaryDirectory(prefix="kadath-test-") as folder:
        try:
            asyncio.run(run(Path(folder) / "home"))
        finally:
            forget(Path(folder) / "home")


def blob(content: bytes) -> BlobRef:
    return ref_of(content)


def tree(sha256: str) -> TreeRef:
    return TreeRef(sha256=sha256, size=0)
