"""Clients in a process of their own: JSON on standard input, latencies in seconds as JSON out.

Each caller is `{"socket": PATH | null, "token": TEXT, "parallel": N, "measured": true}`; all work
until the measured ones have made `calls` calls each. A refused call (429) is repeated at once by
one that floods and is no measured call.
"""

import asyncio
import json
import sys
import time
from typing import Any

import aiohttp

HEAD = {"Content-Type": "application/json"}


def _body(caller: int, number: int) -> bytes:
    """About what an agent sends: a prompt of 2 KiB, and no two alike."""
    text = f"{caller}/{number} " + "work " * 400
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()


async def _lane(asked: dict[str, Any], index: int, lane: int, done: asyncio.Event) -> list[float]:
    caller = asked["callers"][index]
    socket = caller["socket"]
    connector = aiohttp.UnixConnector(path=socket) if socket else aiohttp.TCPConnector()
    headers = HEAD | {"Authorization": f"Bearer {caller['token']}"}
    found: list[float] = []
    async with aiohttp.ClientSession(connector=connector, headers=headers) as http:
        number = 0
        while not done.is_set() and not (caller["measured"] and len(found) >= asked["calls"]):
            body = _body(index, 1_000_000 * lane + number)
            number += 1
            began = time.perf_counter()
            async with http.post(asked["url"], data=body) as response:
                await response.read()
                if response.status == 200:
                    found.append(time.perf_counter() - began)
                elif response.status != 429:
                    raise SystemExit(f"{response.status}: {await response.text()}")
    return found


async def main() -> None:
    asked = json.load(sys.stdin)
    done = asyncio.Event()
    measured, others = [], []
    for index, caller in enumerate(asked["callers"]):
        for lane in range(caller["parallel"]):
            task = asyncio.create_task(_lane(asked, index, lane, done))
            (measured if caller["measured"] else others).append(task)
    found = [seconds for lane in await asyncio.gather(*measured) for seconds in lane]
    done.set()
    rest = await asyncio.gather(*others)
    json.dump({"measured": found, "others": sum(map(len, rest))}, sys.stdout)


if __name__ == "__main__":
    asyncio.run(main())
