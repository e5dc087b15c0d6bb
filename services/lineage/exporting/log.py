"""The log of a run as lines: each body exactly as stored, so that its chain can be computed."""

import json
from typing import NamedTuple

from nats.aio.client import Client

from schemas import CATALOGUE, Recorded, subjects
from services.kit.log import direct_batch, sequence_of

AT_ONCE = 1000


class Line(NamedTuple):
    seq: int
    recorded_at: str
    body: bytes

    def encoded(self) -> bytes:
        """One line of events.jsonl. The body stands last, so a reader finds its exact bytes."""
        head = json.dumps({"seq": self.seq, "recorded_at": self.recorded_at})
        return head[:-1].encode() + b', "event": ' + self.body + b"}\n"

    def recorded(self) -> Recorded:
        return Recorded.read(self.seq, self.body, CATALOGUE)


async def read_log(client: Client, run: str, up_to: int) -> list[Line]:
    """Every event of the run up to and including stream sequence `up_to`."""
    lines: list[Line] = []
    while True:
        start = lines[-1].seq + 1 if lines else 1
        messages = await direct_batch(client, subjects.of_run(run), start, AT_ONCE)
        fresh = [
            Line(sequence_of(m), (m.headers or {}).get("Nats-Time-Stamp", ""), m.data)
            for m in messages
        ]
        lines += [line for line in fresh if line.seq <= up_to]
        if not fresh or fresh[-1].seq >= up_to:
            return lines
