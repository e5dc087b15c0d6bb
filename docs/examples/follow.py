"""Follow a live run through `schemas` alone: python follow.py NATS_URL NKEY_SEED_FILE RUN"""

import asyncio
import sys
from pathlib import Path

import nats

from schemas import CATALOGUE, decode, subjects


async def main(url: str, seed_file: str, run: str) -> None:
    seed = Path(seed_file).read_text().strip()
    client = await nats.connect(url, nkeys_seed_str=seed, inbox_prefix="_INBOX.operator")
    subscription = await client.subscribe(subjects.of_run(run))
    async for message in subscription.messages:
        event = decode(message.data, CATALOGUE)
        print(f"{event.occurred_at:%H:%M:%S} {event.type:<28} {event.entity_id}", flush=True)
        if event.type in ("run.completed", "run.failed", "run.cancelled"):
            return


asyncio.run(main(*sys.argv[1:]))
