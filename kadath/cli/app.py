"""`kadath CMD …`: sends commands, reads projections, tails the log. Holds no rule.

Exit codes: 0 done, 1 unexpected, 2 wrong usage, 3 refused by a service, 4 the run failed or is
paused, 5 another version's kernel runs or no kernel can be had, 6 verification failed,
130 interrupted.
"""

import asyncio
import json
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from kadath import VERSION, home
from kadath.cli import render

app = typer.Typer(
    name="kadath",
    help="Evolves agents that get measurably better at a goal, on an auditable record.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


class Options:
    """Global options of this invocation."""

    home: Path | None = None


Json = Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")]
Run = Annotated[str, typer.Argument(help="A run id, as `kadath runs` lists them.")]


def _version(value: bool) -> None:
    if value:
        typer.echo(f"kadath {VERSION}")
        raise typer.Exit


@app.callback()
def options(
    home: Annotated[Path | None, typer.Option("--home", help="Instead of ./.kadath")] = None,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True)] = False,
) -> None:
    Options.home = home


def where() -> home.Home:
    return home.find(Options.home)


def run_async(work: Coroutine[Any, Any, Any]) -> Any:
    """Run to the end; every known trouble becomes one line and its exit code."""
    return asyncio.run(work)


def run_kernel(work: Coroutine[Any, Any, Any]) -> Any:
    """A kernel in this process: uvloop halves what its many small messages cost."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


def emit(found: object, as_json: bool) -> None:
    """Machine output, or pretty JSON for what has no table."""
    typer.echo(json.dumps(found, indent=None if as_json else 2, default=str))


def fail(message: str, code: int, hint: str = "") -> NoReturn:
    render.errors.print(f"kadath: {message}", markup=False, style="red", highlight=False)
    if hint:
        render.errors.print(f"try: {hint}", markup=False, highlight=False)
    sys.exit(code)


def main() -> None:
    """The program. Trouble that is known by name is told in one line, never as a traceback."""
    from nats.errors import ConnectionClosedError, NoServersError
    from nats.errors import TimeoutError as NatsTimeout
    from pydantic import ValidationError

    from kadath.cli import (
        commands_audit,
        commands_kernel,
        commands_rules,
        commands_runs,
        commands_sandbox,
    )
    from kadath.cli.client import KernelFailed, WrongVersion
    from kadath.cli.demo import DemoFailed
    from kadath.cli.exporting import ExportRefused
    from kadath.home import HomeBusy, HomeUnusable
    from services.kit.commands import Denied
    from services.kit.supervisor import ChildFailed

    # Importing a module registers its commands.
    assert all((commands_audit, commands_kernel, commands_rules, commands_runs, commands_sandbox))
    try:
        app(standalone_mode=True)
    except Denied as error:
        fail(str(error), 3, error.hint)
    except (HomeBusy, HomeUnusable, ChildFailed, KernelFailed, WrongVersion) as error:
        fail(str(error), 5)
    except (ConnectionClosedError, NatsTimeout, NoServersError) as error:
        fail(f"the kernel does not answer ({error})", 5, "kadath doctor, or the same again")
    except DemoFailed as error:
        fail(str(error), 4, "kadath resume RUN, or kadath events RUN")
    except ValidationError as error:
        first = error.errors()[0]
        fail(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", 2, "--help names the options")
    except ExportRefused as error:
        fail(str(error), 1)
    except LookupError as error:
        fail(f"not found: {error}", 3, "kadath runs")
    except KeyboardInterrupt:
        sys.exit(130)
