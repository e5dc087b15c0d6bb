"""Hostile organisms beside honest ones: their neighbours score as if they were not there."""

import asyncio
import json
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import psutil
import pytest

from kadath.cli.requests import Size
from kadath.offline.demos import DEMOS
from schemas.events.attempt import AttemptFinished
from schemas.events.evidence import EvidenceFrozen
from schemas.events.leaderboard import LeaderboardPublished
from services.kit import trees
from services.kit.blobs import FileBlobs
from tests.support.machine import ROOT, Machine, offline_model, until_settled

HONEST = ("a0001", "a0002", "a0003")
TRICKS = {
    "a0004": "import sys; sys.exit(3)",
    "a0005": "while True: pass",
    "a0006": "f = open('/state/big', 'wb')\nwhile True: f.write(b'x' * (1 << 20))",
    "a0007": "import os\nwhile True: os.fork()",
    "a0008": (
        "import os\nos.symlink('/etc/shadow', '/state/candidate.json')\n"
        "os.symlink('/etc/passwd', '/state/result.json')"
    ),
    "a0009": "import os\nos.mkfifo('/state/candidate.json'); os.mkfifo('/state/result.json')",
    "a0010": "import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')",
    "a0011": (
        "open(b'/state/\\xff\\xfe.json', 'w').write('x')\n"
        "open('/state/candidate.json', 'wb').write(b'\\xff\\xfe{')\n"
        "open('/state/result.json', 'wb').write(b'{\"status\": \"\\xff\"}')"
    ),
    "a0012": "import sys\nsys.stderr.write('x' * (100 << 20)); print('y' * (100 << 20))",
}
WRAPPER = """
import json, os, runpy
task = json.load(open(os.environ["KADATH_TASK"]))
tricks = json.load(open("/genome/tricks.json"))
if task["purpose"] == "epoch" and task["agent"] in tricks:
    exec(tricks[task["agent"]])
else:
    runpy.run_path("/genome/honest.py", run_name="__main__")
"""
SECONDS = 20


async def starter(machine: Machine, tricks: dict[str, str]) -> Any:
    """The seed, started through a wrapper that some agents misuse."""
    contents = {p: t.encode() for p, t in DEMOS["sorting_network"].starter.items()}
    contents["honest.py"] = (ROOT / "seed/framework/organism.py").read_bytes()
    contents["organism.py"] = WRAPPER.encode()
    contents["tricks.json"] = json.dumps(tricks).encode()
    blobs = FileBlobs(machine.where.state / "blobs")
    ref, _ = await trees.put_files(blobs, contents)
    return ref


async def run(
    machine: Machine, url: str, tricks: dict[str, str], agents: int, backend: str
) -> list[Any]:
    files = await starter(machine, tricks)
    size = Size(agents, 1, backend)
    name = await machine.request(url, "sorting_network", size, starter=files, epoch_seconds=SECONDS)
    await until_settled(machine, name)
    async with machine.client() as client:
        return [r async for r in client.events(f"kadath.evt.{name}.>", lambda r: False, False)]


def scores(machine: Machine, log: list[Any]) -> dict[str, tuple[str, Decimal]]:
    blobs = FileBlobs(machine.where.state / "blobs")
    board = next(r.data for r in log if isinstance(r.data, LeaderboardPublished))
    rows = json.loads(blobs.get(board.rows))
    return {row["agent"]: (row["outcome"], Decimal(row["score"])) for row in rows}


@pytest.mark.timeout(280)
def test_hostile_organisms_harm_nobody_else(tmp_path: Path, backend: str) -> None:
    """Crash, hang, flood, fork, links, FIFOs, deep folders, bad bytes, a huge log line."""
    machine = Machine(tmp_path)
    machine.start()
    assert machine.process is not None
    kernel = psutil.Process(machine.process.pid)
    try:
        with offline_model() as url:
            quiet = scores(machine, asyncio.run(run(machine, url, {}, 4, backend)))
            before, disk = kernel.memory_info().rss, _bytes(machine.where.state / "blobs")
            began = time.monotonic()
            log = asyncio.run(run(machine, url, TRICKS, 12, backend))
            seconds = time.monotonic() - began
        found = scores(machine, log)
        assert {a: found[a] for a in HONEST} == {a: quiet[a] for a in HONEST}
        assert {found[a][0] for a in TRICKS} == {"failed"}
        assert kernel.memory_info().rss - before < 50 << 20
        # Each frozen state is bounded by its quota (64 MiB in a demo).
        assert _bytes(machine.where.state / "blobs") - disk < len(TRICKS) * (64 << 20)
        assert seconds < SECONDS * (len(TRICKS) + 3)
        _assert_links_were_refused(log)
    finally:
        machine.stop()


def _assert_links_were_refused(log: list[Any]) -> None:
    """The secret behind the link is in nobody's evidence."""
    frozen = next(
        r.data for r in log if isinstance(r.data, EvidenceFrozen) and r.data.agent == "a0008"
    )
    assert frozen.candidate is None and frozen.rejected_count == 2
    ends = [r for r in log if isinstance(r.data, AttemptFinished) and "a0008" in r.entity_id]
    assert [end.data.outcome for end in ends] == ["failed"]


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
