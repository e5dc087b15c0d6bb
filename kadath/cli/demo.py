"""`kadath demo`: the main job on the embedded default, without a key or a question."""

from pathlib import Path
from typing import Any, NamedTuple

from kadath.cli import render
from kadath.cli.client import session
from kadath.cli.exporting import export
from kadath.cli.offline import offline_model
from kadath.cli.requests import Size, demo_request
from kadath.cli.watching import Outcome, watch
from kadath.home import Home
from kadath.offline.demos import DEMOS
from schemas import Recorded, canonical, digest, ids
from schemas.commands.run import RequestRun
from schemas.events.attempt import AttemptFinished
from schemas.events.leaderboard import LeaderboardPublished
from schemas.events.run import RunLocked
from services.kit import edges, trees


class DemoFailed(RuntimeError):
    """The run did not complete; the message says how it stands."""


class Done(NamedTuple):
    """A finished demo: the object that `--json` prints, and the rows of its table."""

    result: dict[str, Any]
    rows: list[render.EpochRow]


async def demo(where: Home, name: str, strategy: str, seed: int, size: Size, quiet: bool) -> Done:
    """One run of a built-in goal."""
    found = DEMOS[name]
    async with session(where) as client, offline_model() as url:
        contents = {p: t.encode() for p, t in found.starter.items()}
        contents |= {f".champion/{p}": t.encode() for p, t in found.champion_files.items()}
        files, _ = await trees.put_files(client.blobs, contents)
        run = ids.run_id(edges.now(), edges.random_bytes(3))
        request = demo_request(found.goal, name, url, files, strategy, seed, size)
        await client.send("scheduler", RequestRun(run=run, command=edges.uuid7(), request=request))
        outcome = await watch(client, run, None if quiet else Progress(run, name))
        if outcome.completed is None:
            raise DemoFailed(how_it_stands(run, outcome))
        path = await export(client, run) / "champion"
        return Done(result(run, seed, outcome, path, found.published_best), outcome.rows)


class Progress:
    """A line for what a user waits for."""

    def __init__(self, run: str, name: str) -> None:
        self._done = 0
        render.console.print(f"run [bold]{run}[/bold], goal: {name}")

    def __call__(self, recorded: Recorded) -> None:
        match recorded.data:
            case RunLocked():
                render.console.print("benchmark approved and locked; generation one is made")
            case AttemptFinished() if recorded.entity_id.count("-") == 1:
                self._done += 1
            case LeaderboardPublished() as board:
                render.console.print(
                    f"epoch {board.epoch}: {board.successes} of {board.count} succeeded, "
                    f"{self._done} attempts so far"
                )


def how_it_stands(run: str, outcome: Outcome) -> str:
    if outcome.paused is not None:
        return f"{run} is paused ({outcome.paused.cause}): {outcome.paused.detail}"
    if outcome.failed is not None:
        return f"{run} failed ({outcome.failed.reason}): {outcome.failed.detail}"
    return f"{run} was cancelled"


def result(
    run: str, seed: int, outcome: Outcome, path: Path, published_best: float
) -> dict[str, Any]:
    assert outcome.completed is not None
    best = outcome.completed.champion
    return {
        "run": run,
        "seed": seed,
        "epochs": [
            {
                "epoch": row.epoch,
                "best": float(row.best),
                "median": float(row.median),
                "worst": float(row.worst),
            }
            for row in outcome.rows
        ],
        "champion": {"path": str(path), "genome": best.genome, "score": float(best.score)},
        "published_best": published_best,
        "leaderboard_digest": digest(canonical(outcome.boards)),
    }


def show(done: Done, png_path: Path) -> None:
    """The table, the curve in the terminal and as a PNG, the champion's path."""
    found = done.result
    title = f"run {found['run']}, seed {found['seed']}"
    render.console.print(render.epochs_table(done.rows, title))
    best = {"best": [float(row.best) for row in done.rows]}
    render.console.print(render.terminal_curve(best), markup=False, highlight=False)
    png = render.png_curve(png_path, best, found["published_best"], "best score")
    render.console.print(f"curve:    {png}", soft_wrap=True)
    champion = found["champion"]
    render.console.print(
        f"champion: {champion['path']} (score {champion['score']:.6f})", soft_wrap=True
    )
    render.console.print(f"leaderboard digest: {found['leaderboard_digest']}", soft_wrap=True)
