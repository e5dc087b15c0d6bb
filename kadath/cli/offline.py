"""The offline model as a child process of whoever needs it."""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator


@contextlib.asynccontextmanager
async def offline_model(*arguments: str) -> AsyncIterator[str]:
    """Its base URL while it runs; it ends with us, however we end."""
    process = await asyncio.create_subprocess_exec(
        "setpriv", "--pdeathsig", "KILL", "--",
        sys.executable, "-m", "kadath.offline", "--port", "0", *arguments,
        stdout=asyncio.subprocess.PIPE,
        stdin=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), timeout=30)
        yield str(json.loads(line)["url"])
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()
