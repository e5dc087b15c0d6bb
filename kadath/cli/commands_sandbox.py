"""The sandbox by itself: try a program in it as an organism would be."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from kadath.cli import render
from kadath.cli.app import Json, app, emit, fail, where
from kadath.cli.requests import executor
from schemas.values.runtime import Limits

sandbox = typer.Typer(help="The sandbox by itself, without a kernel.", no_args_is_help=True)
app.add_typer(sandbox, name="sandbox")


@sandbox.command("try")
def try_(
    scripts: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, readable=True)],
    backend: Annotated[str, typer.Option(help="auto, local or docker")] = "auto",
    seconds: Annotated[float, typer.Option(min=0.5, help="until the deadline of each")] = 30,
    limits: Annotated[
        str, typer.Option(help='JSON of the limits that differ, such as {"memory_mb":128}')
    ] = "{}",
    env: Annotated[list[str] | None, typer.Option(help="NAME=VALUE, seen by the script")] = None,
    as_json: Json = False,
) -> None:
    """Run Python scripts in sandboxes, one after the other: how each ended and what it left."""
    from kadath.cli import trying

    given = Limits.model_validate_json(limits)
    trial = trying.Trial(given, seconds, dict(_pair(text) for text in env or []))
    try:
        found = asyncio.run(trying.try_scripts(where(), executor(backend), scripts, trial))
    except trying.Unavailable as error:
        fail(str(error), 5, "kadath doctor")
    emit(found, True) if as_json else _show(found)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE")
    return name, value


def _show(found: dict[str, Any]) -> None:
    for tried in found["attempts"]:
        code = "" if tried["exit_code"] is None else f" {tried['exit_code']}"
        title = f"{tried['script']}: {tried['reason']}{code} {tried['detail']}".rstrip()
        render.console.print(title, markup=False, style="bold", highlight=False)
        sys.stdout.write(tried["stdout"])
        sys.stderr.write(tried["log"])
        names = [file["path"] for file in tried["files"]]
        names += [f"{item['path']} ({item['reason']})" for item in tried["rejected"]]
        render.console.print(
            f"  {tried['wall_seconds']} s, {tried['cpu_seconds']} s of CPU, "
            f"left {len(names)} files {', '.join(names[:10])}",
            markup=False, highlight=False,
        )  # fmt: skip
    gaps = "; ".join(f"{limit} ({why})" for limit, why in found["not_enforced"].items())
    render.console.print(f"not enforced here: {gaps}", markup=False, highlight=False)
