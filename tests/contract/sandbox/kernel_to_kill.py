"""A kernel-side process for the tests: runs attempts that hang, until it is killed."""

import asyncio
import sys
import time
from pathlib import Path

from schemas.values.runtime import Limits
from services.sandbox.local import LocalContainers
from services.sandbox.port import Spec

HANG = "import os, time\nos.fork()\nprint(flush=True)\ntime.sleep(90)"


async def main(home: Path, names: list[str]) -> None:
    containers = LocalContainers(home / "backend", scope=home.name)
    assert (await containers.probe()).ok
    ends = time.time() + 90
    specs = (
        Spec(
            name=name,
            run=name.partition("-")[0],
            argv=("/usr/bin/python3", "-I", "-S", "-c", HANG),
            limits=Limits(),
            finalize_at=ends,
            deadline_at=ends,
            spool=home / "spool",
        )
        for name in names
    )
    await asyncio.gather(*map(containers.run, specs))


asyncio.run(main(Path(sys.argv[1]), sys.argv[2:]))
