"""The kernel itself: up, down, doctor, demo."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from kadath import VERSION, home
from kadath.cli.app import Json, app, emit, run_async, run_kernel, where


@app.command()
def up(
    durability: Annotated[
        str, typer.Option(help="process, or power: fsync every event")
    ] = "process",
    slots: Annotated[int | None, typer.Option(help="attempts at a time")] = None,
    idle_exit: Annotated[int | None, typer.Option(help="seconds without an active run")] = None,
    tape: Annotated[str | None, typer.Option(help="answer model calls from this run only")] = None,
) -> None:
    """Run the kernel of this home in the foreground until a signal."""
    from kadath.embedded import serve
    from services.kit import telemetry

    telemetry.set_up("kadath")
    run_kernel(serve(where(), durability == "power", slots, tape, idle_exit))


@app.command()
def down() -> None:
    """Stop the kernel of this home; runs go on where they were at its next start."""
    typer.echo("stopped" if home.stop_kernel(where()) else "no kernel runs here")


@app.command()
def doctor(as_json: Json = False) -> None:
    """What this machine can and cannot do for KADATH, and what to install."""
    from kadath import nats_server, postgres
    from kadath.cli.trying import probes

    at = where()
    found = {
        "version": VERSION,
        "home": str(at.folder),
        "python": sys.version.split()[0],
        "nats_server": nats_server.binary().exists(),
        "postgres": (postgres.binaries() / "postgres").exists(),
        "backends": asyncio.run(probes(at)),
    }
    emit(found, as_json)
    if not any(backend["isolation"] for backend in found["backends"].values()):
        raise typer.Exit(5)


@app.command()
def demo(
    name: Annotated[
        str, typer.Option("--goal", help="circle_packing or sorting_network")
    ] = "circle_packing",
    strategy: Annotated[str, typer.Option(help="default, or random: the control")] = "default",
    seed: Annotated[int, typer.Option(help="equal seeds give equal leaderboards")] = 0,
    population: int = 8,
    epochs: int = 6,
    backend: Annotated[str, typer.Option(help="auto, local or docker")] = "auto",
    as_json: Json = False,
) -> None:
    """Evolve agents on a built-in goal with the offline model: no key, no question."""
    from kadath.cli import demo as demos
    from kadath.cli.requests import Size

    size = Size(population, epochs, backend)
    done = run_async(demos.demo(where(), name, strategy, seed, size, quiet=as_json))
    if as_json:
        emit(done.result, True)
        return
    folder = Path(done.result["champion"]["path"]).parent
    demos.show(done, folder.with_name(f"{folder.name}-curve.png"))
