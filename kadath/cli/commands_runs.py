"""Runs: make, list, watch, approve, control, read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from kadath.cli import exporting, requests, watching
from kadath.cli.app import Json, Run, app, emit, run_async, where
from kadath.cli.client import Session, session
from kadath.cli.render import console, epochs_table, facts, listing
from schemas import Recorded, ids, subjects
from schemas.commands import Command
from schemas.commands.benchmark import ApproveBenchmark, DeclineBenchmark, RequestRevision
from schemas.commands.run import CancelRun, PauseRun, RequestRun, ResumeRun
from schemas.events.benchmark import BenchmarkDrafted
from schemas.events.run import RunRequested
from services.kit import edges

Text = Annotated[str | None, typer.Option()]


@app.command()
def new(
    goal: Annotated[str, typer.Option(help="what the agents shall get better at")],
    model: Annotated[
        str, typer.Option(help="a model id; any name litellm knows, or with --api-base any server")
    ],
    api_base: Annotated[
        str | None, typer.Option(help="base URL of an OpenAI-compatible server")
    ] = None,
    organism_model: Text = None,
    criterion: Annotated[str, typer.Option(help="a hint for the benchmark")] = "",
    epochs: int = 3,
    population: int = 8,
    epoch_seconds: int = 300,
    passes: Annotated[int, typer.Option(help="0: agents work until their deadline")] = 0,
    starter: Annotated[Path | None, typer.Option(help="files laid over the seed genome")] = None,
    benchmark: Annotated[Path | None, typer.Option(help="your own benchmark as JSON")] = None,
    strategy: str = "default",
    max_usd: Text = None,
    max_tokens: Annotated[int | None, typer.Option()] = None,
    max_calls: Annotated[int | None, typer.Option()] = None,
    max_wall_seconds: Annotated[int | None, typer.Option()] = None,
    env: Annotated[list[str] | None, typer.Option(help="KEY=VALUE for organisms")] = None,
    allow: Annotated[
        list[str] | None, typer.Option(help="web_search, web_fetch: what may be approved at most")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="the only hosts for web_fetch: example.org, *.org:8080")
    ] = None,
    seed: int = 0,
    backend: Annotated[str, typer.Option(help="auto, local or docker")] = "auto",
    yes: Annotated[bool, typer.Option("--yes", help="approve the benchmark unseen")] = False,
    watch: Annotated[bool, typer.Option(help="stay and show progress")] = True,
    as_json: Json = False,
) -> None:
    """Request a run. Its benchmark is drafted, then waits for `kadath approve`."""

    async def work() -> None:
        async with session(where()) as client:
            request = await _request(client)
            run = ids.run_id(edges.now(), edges.random_bytes(3))
            await client.send(
                "scheduler", RequestRun(run=run, command=edges.uuid7(), request=request)
            )
            if as_json or not watch:
                emit({"run": run}, True) if as_json else typer.echo(run)
                return
            typer.echo(f"run {run}")
            await _until_settled(client, run, yes)

    async def _request(client: Session) -> RunRequested:
        own = await client.blobs.put(benchmark.read_bytes()) if benchmark else None
        try:
            return RunRequested(
                name=goal[:60], goal=goal, criterion_hint=criterion, epochs=epochs,
                population=population, epoch_seconds=epoch_seconds,
                limits=requests.Limits(passes=passes),
                models=requests.models(model, organism_model, api_base),
                budget=requests.budget(max_usd, max_tokens, max_calls, max_wall_seconds),
                strategy=requests.Strategy(name=strategy),  # type: ignore[arg-type]
                starter=await requests.starter(client.blobs, starter), benchmark=own,
                env=requests.environment(env or []),
                approve="automatic" if yes else "operator", seed=seed,
                executor=requests.executor(backend),
                capabilities=tuple(allow or ()), hosts=tuple(allow_host or ()),  # type: ignore[arg-type]
            )  # fmt: skip
        except ValidationError as error:
            first = error.errors()[0]
            raise typer.BadParameter(
                f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
            ) from None

    run_async(work())


async def _until_settled(client: Session, run: str, approved: bool) -> None:
    """Follow until the run ends or pauses, or until it waits for a person."""

    def until(r: Recorded) -> bool:
        waits = not approved and isinstance(r.data, BenchmarkDrafted)
        return waits or isinstance(r.data, (*watching.ENDS, watching.RunPaused))

    async for recorded in client.events(subjects.of_run(run), until):
        if told := _line(recorded):
            console.print(told, markup=False, highlight=False)
    if isinstance(recorded.data, BenchmarkDrafted):
        console.print(f"the benchmark waits: kadath show {run}, then kadath approve {run}")


QUIET = ("model_call", "grant", "budget", "memory", "chain", "measurement")


def _line(recorded: Recorded) -> str:
    envelope = recorded.envelope
    if envelope.entity in QUIET:
        return ""
    return f"{recorded.seq:>8}  {envelope.type:<28} {envelope.entity_id}"


@app.command()
def runs(as_json: Json = False) -> None:
    """Every run of this home."""
    columns = ("run", "name", "status", "epoch", "champion_score")
    _query("/api/runs", as_json, lambda found: listing(found["runs"], columns))


def _query(path: str, as_json: bool, table: Callable[[Any], object]) -> None:
    async def work() -> None:
        async with session(where()) as client:
            found = await client.get(path)
        if as_json:
            emit(found, True)
        else:
            console.print(table(found))

    run_async(work())


STATUS = (
    "run", "name", "goal", "status", "pause_cause", "detail", "epoch", "epochs", "population",
    "strategy", "seed", "champion_agent", "champion_genome", "champion_score", "requested_at",
    "finished_at",
)  # fmt: skip


@app.command()
def status(run: Run, as_json: Json = False) -> None:
    """How a run stands: its phase, or the cause of its pause."""
    _query(f"/api/runs/{run}", as_json, lambda found: facts(found, STATUS))


@app.command()
def lineage(run: Run, as_json: Json = False) -> None:
    """Who descends from whom."""
    columns = ("epoch", "agent", "change", "genome", "previous", "parent")
    _query(f"/api/runs/{run}/lineage", as_json, lambda f: listing(f["changes"], columns))


@app.command()
def leaderboard(run: Run, epoch: int | None = None, as_json: Json = False) -> None:
    """The ranking of an epoch, the latest by default."""
    columns = ("rank", "agent", "outcome", "score", "tie_break", "genome", "parent")
    path = f"/api/runs/{run}/leaderboard" + (f"?epoch={epoch}" if epoch else "")
    _query(path, as_json, lambda f: listing(f["rows"], columns, f"epoch {f['epoch']}"))


@app.command()
def diff(run: Run, genome: str, against: str = "parent") -> None:
    """What a genome changed, against its parent or the seed."""

    async def work() -> None:
        async with session(where()) as client:
            found = await client.get(f"/api/runs/{run}/genomes/{genome}/diff?against={against}")
        typer.echo(found["diff"] if isinstance(found, dict) and "diff" in found else found)

    run_async(work())


@app.command()
def usage(run: Run, as_json: Json = False) -> None:
    """Model calls and tokens by role."""
    columns = ("role", "caller", "calls", "prompt_tokens", "completion_tokens", "cost")
    _query(f"/api/runs/{run}/usage", as_json, lambda f: listing(f["roles"], columns))


@app.command()
def show(run: Run, as_json: Json = False) -> None:
    """The benchmark of a run, as it is approved or waits for approval."""

    async def work() -> None:
        async with session(where()) as client:
            draft = await _latest_draft(client, run)
            content = json.loads(client.blobs.get(draft.benchmark))
        emit(
            {"draft": draft.draft_no, "sha256": draft.benchmark.sha256, "benchmark": content},
            as_json,
        )

    run_async(work())


async def _latest_draft(client: Session, run: str) -> BenchmarkDrafted:
    found: BenchmarkDrafted | None = None
    async for r in client.events(f"kadath.evt.{run}.benchmark.>", lambda r: False, follow=False):
        if isinstance(r.data, BenchmarkDrafted):
            found = r.data
    if found is None:
        raise LookupError(f"{run} has no benchmark yet")
    return found


@app.command()
def approve(run: Run) -> None:
    """Approve the latest draft of the benchmark; the run locks it and starts."""
    _answer_draft(
        run,
        lambda draft: ApproveBenchmark(
            run=run, command=edges.uuid7(), draft_no=draft.draft_no,
            benchmark_sha=draft.benchmark.sha256,
        ),
        "approved",
    )  # fmt: skip


@app.command()
def decline(run: Run, reason: str = "") -> None:
    """Decline the draft; the run stays, inactive and revisable."""
    _answer_draft(
        run,
        lambda draft: DeclineBenchmark(
            run=run, command=edges.uuid7(), draft_no=draft.draft_no, reason=reason
        ),
        "declined",
    )


@app.command()
def revise(run: Run, notes: Annotated[str, typer.Option(help="what to change")]) -> None:
    """Ask the Architect for another draft."""
    _answer_draft(
        run,
        lambda draft: RequestRevision(
            run=run, command=edges.uuid7(), draft_no=draft.draft_no, notes=notes
        ),
        "asked for another draft after",
    )


def _answer_draft(run: str, answer: Callable[[BenchmarkDrafted], Command], said: str) -> None:
    """Send what a person says about the latest draft."""

    async def work() -> int:
        async with session(where()) as client:
            draft = await _latest_draft(client, run)
            await client.send("architect", answer(draft))
            return draft.draft_no

    typer.echo(f"{said} draft {run_async(work())}")


@app.command()
def pause(
    run: Run,
    at: Annotated[str, typer.Option(help="execution, grading or epoch")] = "epoch",
    now: Annotated[bool, typer.Option("--now", help="stop attempts, abandon this try")] = False,
    reason: str = "",
) -> None:
    """Pause at the next boundary."""
    mode = "now" if now else at
    command = PauseRun(run=run, command=edges.uuid7(), mode=mode, reason=reason)  # type: ignore[arg-type]
    _send("scheduler", command, f"{run} pauses ({mode})")


@app.command()
def resume(run: Run, reason: str = "") -> None:
    """Go on where a paused run stopped."""
    _send("scheduler", ResumeRun(run=run, command=edges.uuid7(), reason=reason), f"{run} goes on")


@app.command()
def cancel(run: Run, reason: str = "") -> None:
    """End a run for good; it stays exportable."""
    _send("scheduler", CancelRun(run=run, command=edges.uuid7(), reason=reason), f"{run} ends")


def _send(service: str, command: PauseRun | ResumeRun | CancelRun, said: str) -> None:
    async def work() -> None:
        async with session(where()) as client:
            await client.send(service, command)
        typer.echo(said)

    run_async(work())


@app.command()
def watch(run: Run) -> None:
    """Follow a run until it ends or pauses; Ctrl-C detaches, the run goes on."""

    async def work() -> watching.Outcome:
        async with session(where()) as client:
            return await watching.watch(
                client, run, lambda r: console.print(_line(r), markup=False) if _line(r) else None
            )

    outcome = run_async(work())
    console.print(epochs_table(outcome.rows, run))
    if outcome.completed is None:
        raise typer.Exit(4)


@app.command()
def events(run: Run, follow: bool = False, as_json: Json = False) -> None:
    """The run's events, oldest first."""

    async def work() -> None:
        async with session(where()) as client:
            async for r in client.events(subjects.of_run(run), lambda r: False, follow):
                if as_json:
                    typer.echo(json.dumps({"seq": r.seq, "event": json.loads(r.body)}))
                else:
                    at = r.envelope.occurred_at.strftime("%H:%M:%S.%f")[:-3]
                    typer.echo(f"{r.seq:>8}  {at}  {r.envelope.type:<28} {r.envelope.entity_id}")

    run_async(work())


@app.command()
def export(run: Run, to: Annotated[Path | None, typer.Option(help="a new folder")] = None) -> None:
    """Write the run as a directory that stands by itself: champion, log, evidence, manifest."""

    async def work() -> None:
        async with session(where()) as client:
            typer.echo(str(await exporting.export(client, run, to)))

    run_async(work())
