"""`python -m kadath.offline`: starts the server and prints its URL when it is ready."""

import argparse
import asyncio
import contextlib
import json
import signal
import socket
from pathlib import Path

from aiohttp import web

from kadath.offline.faults import FaultPlan, plan_of
from kadath.offline.server import Server


async def serve(host: str, port: int, server: Server) -> None:
    """Serve until SIGTERM or SIGINT."""
    listener = socket.create_server((host, port))
    runner = web.AppRunner(server.app(), access_log=None)
    await runner.setup()
    await web.SockSite(runner, listener).start()
    print(json.dumps({"url": f"http://{host}:{listener.getsockname()[1]}/v1"}), flush=True)
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    await stopped.wait()
    # A stalled answer must not hold up the end.
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(runner.cleanup(), 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m kadath.offline", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--faults", type=Path, help="a plan of faults to inject, JSON")
    parser.add_argument("--delay-ms", type=float, default=0.0, help="wait before every answer")
    options = parser.parse_args()
    text = options.faults.read_text(encoding="utf-8") if options.faults else None
    plan = plan_of(json.loads(text)) if text else FaultPlan()
    server = Server(faults=plan, delay_seconds=options.delay_ms / 1000)
    asyncio.run(serve(options.host, options.port, server))


if __name__ == "__main__":
    main()
