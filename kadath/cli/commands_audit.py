"""Audit: verify an export, replay a run, look at what was parked."""

import dataclasses
import json
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from kadath import home
from kadath.cli import watching
from kadath.cli.app import Json, Run, app, emit, run_async, run_kernel, where
from kadath.cli.client import Session, session
from kadath.cli.render import console

BAD = 6


@app.command()
def verify(
    folder: Path,
    key: Annotated[Optional[str], typer.Option(help="fingerprint you expect")] = None,
    as_json: Json = False,
) -> None:
    """Check an export on any machine: signature, chain, files, every score derived again."""
    from kadath.audit.verify import verify as check

    report = check(folder, key)
    if as_json:
        emit(dataclasses.asdict(report) | {"ok": report.ok, "verdict": report.verdict}, True)
    else:
        console.print(
            f"{report.verdict}: {report.events} events, {report.files} files", markup=False
        )
        for problem in report.problems[:20]:
            console.print(f"  {problem}", markup=False)
        if report.redecided is not None:
            again = report.redecided
            console.print(f"decisions: {again.matched} of {again.decided} match", markup=False)
        console.print(f"key fingerprint: {report.fingerprint}", markup=False)
    if not report.ok:
        raise typer.Exit(BAD)


@app.command()
def replay(
    run: Run,
    rebuild: Annotated[bool, typer.Option(help="read models in an empty database")] = False,
    redecide: Annotated[bool, typer.Option(help="decide every decision again")] = False,
    tape: Annotated[bool, typer.Option(help="run it all again on recorded model answers")] = False,
    as_json: Json = False,
) -> None:
    """Replay a run at three depths; without an option the first two."""
    if not (rebuild or redecide or tape):
        rebuild = redecide = True
    found: dict[str, Any] = {"run": run}
    if rebuild or redecide:
        found |= run_async(_offline(run, rebuild, redecide))
    if tape:
        found["tape"] = run_kernel(_tape(run))
    emit(found, as_json)
    parts = (found.get("rebuild"), found.get("redecide"), found.get("tape"))
    if any(part is not None and not part["equal"] for part in parts):
        raise typer.Exit(BAD)


async def _offline(run: str, rebuild: bool, redecide: bool) -> dict[str, Any]:
    from kadath import replaying

    found: dict[str, Any] = {}
    async with session(where()) as client:
        log = await replaying.log_of(client, run)
        found["leaderboard_digest"] = replaying.leaderboard_digest(log)
        if redecide:
            report = replaying.decided_again(log, client)
            found["redecide"] = dataclasses.asdict(report) | {"equal": report.ok}
        if rebuild:
            found["rebuild"] = await replaying.rebuilt(client, log, run)
    return found


async def _tape(run: str) -> dict[str, Any]:
    """A kernel of our own on the same home answers model calls from `run` alone."""
    from kadath import replaying
    from kadath.embedded import announce, embedded
    from schemas import ids
    from schemas.commands.run import RequestRun
    from services.kit import edges

    at = where()
    home.stop_kernel(at)  # a tape needs a kernel of its own; runs go on at the next start
    async with embedded(at, tape=run) as state:
        announce(at, state)
        async with session(at) as client:
            log = await replaying.log_of(client, run)
            again = ids.run_id(edges.now(), edges.random_bytes(3))
            request = RequestRun(
                run=again, command=edges.uuid7(), request=replaying.request_of(log)
            )
            await client.send("scheduler", request)
            outcome = await watching.watch(client, again)
            second = replaying.leaderboard_digest(await replaying.log_of(client, again))
    first = replaying.leaderboard_digest(log)
    stands = outcome.completed is not None
    return {
        "run": again,
        "equal": stands and first == second,
        "leaderboard_digest": second,
        "paused": outcome.paused.detail if outcome.paused else None,
    }


@app.command()
def parked(as_json: Json = False) -> None:
    """What was set aside after five failures, and why. A restart of the kernel tries again."""

    async def work() -> None:
        async with session(where()) as client:
            emit(await _parked(client), as_json)

    run_async(work())


async def _parked(client: Session) -> list[Any]:
    from nats.js.errors import NotFoundError

    from schemas import subjects

    js = client.nats.jetstream()
    info = await js.stream_info(subjects.PARKED)
    found = []
    for seq in range(max(info.state.first_seq, 1), info.state.last_seq + 1):
        try:
            message = await js.get_msg(subjects.PARKED, seq)
        except NotFoundError:
            continue
        found.append({"seq": seq, **json.loads(message.data or b"{}")})
    return found
