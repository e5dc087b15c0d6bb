"""Rules: ask one by its name, or check a file of cases."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from kadath.cli.app import Json, app, emit, fail
from kadath.cli.render import console

BAD, USAGE = 6, 2


@app.command()
def rules(
    op: Annotated[Optional[str], typer.Argument(help="a rule; without one: all of them")] = None,
    given: Annotated[Optional[str], typer.Argument(help="JSON; without it: from stdin")] = None,
    check: Annotated[Optional[Path], typer.Option(help="a file of cases")] = None,
    as_json: Json = False,
) -> None:
    """Ask a rule that decides runs, with your own numbers: JSON in, JSON out."""
    from kadath.audit import rules as table

    if check is not None:
        _check(_json(check.read_text(encoding="utf-8")), as_json)
        return
    if op is None:
        _list(as_json)
        return
    try:
        found = table.answer(op, _json(sys.stdin.read() if given is None else given))
    except table.BadInput as error:
        fail(str(error), USAGE)
        return
    emit(found, as_json)


def _list(as_json: bool) -> None:
    from kadath.audit import rules as table

    meanings = {op: table.meaning(op) for op in sorted(table.OPS)}
    if as_json:
        emit(meanings, True)
        return
    for op, text in meanings.items():
        console.print(f"{op:12} {text}", markup=False, highlight=False, soft_wrap=True)


def _check(cases: Any, as_json: bool) -> None:
    from kadath.audit import rules as table

    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        fail("a file of cases is a list of objects", USAGE)
    wrong = table.check(cases)
    if as_json:
        emit({"cases": len(cases), "wrong": [one._asdict() for one in wrong]}, True)
    else:
        for one in wrong:
            text = f"{one.name}: expected {json.dumps(one.expected)}, got {json.dumps(one.actual)}"
            console.print(text, markup=False, highlight=False, soft_wrap=True)
        console.print(f"{len(cases) - len(wrong)} of {len(cases)} cases hold", markup=False)
    if wrong:
        raise typer.Exit(BAD)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        fail(f"the input is not JSON: {error}", USAGE)
