"""`kadath sandbox try`: a program in a sandbox as an organism is in one, without a kernel."""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from kadath.home import Home, prepare, sandbox_user
from schemas.values.runtime import Limits
from seed.layer import FRAMEWORK
from services.sandbox.effects.backends import Backend, Backends, Ground
from services.sandbox.port import Mount, Outcome, Probe, Spec

ANSWER = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
FINALIZE_SECONDS = 2.0
NAMES = ("local", "docker")


class Trial(NamedTuple):
    """What every script of one call is given."""

    limits: Limits
    seconds: float
    env: Mapping[str, str]


class Unavailable(RuntimeError):
    """No attempt can run on this backend; the message says what is missing."""


async def try_scripts(home: Home, name: str, scripts: list[Path], trial: Trial) -> dict[str, Any]:
    """Each script once, one after the other. Raises `Unavailable`."""
    async with ground(home) as place:
        backends = Backends(place)
        backend = backends.of(name)
        try:
            probe = await backend.probe()
            if not probe.ok:
                raise Unavailable(f"{probe.reason}. {probe.install_hint}".rstrip(". "))
            tried = [await _try(backend, place, script, trial) for script in scripts]
        finally:
            await backends.close()
    return {"backend": backend.identity(), **limits_of(probe), "attempts": tried}


async def probes(home: Home) -> dict[str, Any]:
    """What each backend can do on this machine, tried for real."""
    async with ground(home) as place:
        backends = Backends(place)
        try:
            return {name: _report(await backends.of(name).probe()) for name in NAMES}
        finally:
            await backends.close()


def _report(probe: Probe) -> dict[str, Any]:
    hint = probe.install_hint or probe.reason
    return {"isolation": probe.ok, **limits_of(probe), "reason": probe.reason, "hint": hint}


def limits_of(probe: Probe) -> dict[str, Any]:
    """What a preflight says of a machine, as JSON."""
    return {
        "enforced": list(probe.enforced),
        "not_enforced": {gap.limit: gap.why for gap in probe.not_enforced},
    }


@asynccontextmanager
async def ground(home: Home) -> AsyncIterator[Ground]:
    """Folders of this call alone, and a gateway that has no model behind it."""
    prepare(home)
    mark = f"{home.sockets.name}-try-{os.getpid()}"
    cache = Path(tempfile.mkdtemp(prefix="try-", dir=home.state))
    cache.chmod(0o711)
    sockets = home.sockets.with_name(mark)
    (sockets / "broker").mkdir(parents=True, mode=0o755)
    server = await asyncio.start_unix_server(_refuse, sockets / "broker" / "gateway.sock")
    (sockets / "broker" / "gateway.sock").chmod(0o666)
    shutil.copytree(FRAMEWORK, cache / "genome", ignore=shutil.ignore_patterns("__pycache__"))
    try:
        yield Ground(cache, sockets, sandbox_user(), 1)
    finally:
        server.close()
        shutil.rmtree(cache, ignore_errors=True)
        shutil.rmtree(sockets, ignore_errors=True)


async def _refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The broker's door is there as for an organism; nobody answers behind it."""
    await reader.read(1 << 16)
    writer.write(ANSWER)
    await writer.drain()
    writer.close()


async def _try(backend: Backend, place: Ground, script: Path, trial: Trial) -> dict[str, Any]:
    deadline = time.time() + trial.seconds
    outcome = await backend.run(
        Spec(
            name=f"try-{script.stem}",
            run="try",
            argv=("/usr/bin/python3", f"/input/{script.name}"),
            env={"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8", **trial.env},
            mounts=(Mount(place.cache / "genome", "/genome"),),
            broker=place.sockets / "broker",
            input={script.name: script.read_bytes()},
            limits=trial.limits,
            finalize_at=deadline - min(FINALIZE_SECONDS, trial.seconds / 2),
            deadline_at=deadline,
            spool=place.cache / "spool" / script.stem,
        )
    )
    return {"script": script.stem, **as_json(outcome)}


def as_json(outcome: Outcome) -> dict[str, Any]:
    """How it ended, what it said, and what would have become evidence."""
    frozen = outcome.frozen
    return {
        "reason": outcome.reason,
        "exit_code": outcome.exit_code,
        "detail": outcome.detail,
        "wall_seconds": round(outcome.wall_seconds, 3),
        "cpu_seconds": round(outcome.cpu_seconds, 3),
        "stdout": outcome.stdout.decode(errors="replace"),
        "stdout_truncated": outcome.stdout_truncated,
        "log": outcome.log.decode(errors="replace"),
        "files": [file.model_dump(mode="json") for file in frozen.files] if frozen else [],
        "rejected": [item.model_dump(mode="json") for item in frozen.rejected] if frozen else [],
        "omitted": frozen.omitted if frozen else 0,
    }
