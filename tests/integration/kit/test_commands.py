"""Commands and RPCs answer whatever they are sent."""

import json
from pathlib import Path

import pytest
from nats.aio.client import Client

from kadath import nats_server
from schemas import subjects
from schemas.base import Value
from schemas.commands import Accepted
from schemas.commands.complete import TokenFor
from services.kit.engine import Context
from services.kit.errors import Unavailable
from services.kit.service import Rpc, Service
from services.scheduler.service import SERVICE
from tests.support.kernel import Kernel, Nothing, kernel, voice


async def operator(running: Kernel, service: str) -> Client:
    platform = running.context(service).platform
    return await nats_server.connect_operator(platform.nats_url, platform.nkeys["operator"])


GARBAGE = (
    b"", b"\xff\xfe", b"{", b"[]", b'{"run": 1}', b'"\\ud800"', b"{}" + b" " * 500_000,
)  # fmt: skip


def test_garbage_is_refused_with_its_first_fault(tmp_path: Path):
    """Not a time-out: whoever sends it learns what was wrong."""

    async def scene(running: Kernel) -> None:
        client = await operator(running, "scheduler")
        subject = subjects.command("scheduler", "PauseRun")
        for body in GARBAGE:
            reply = json.loads((await client.request(subject, body, timeout=5)).data)
            assert reply["reply"] == "refused"
            assert "the command is not valid" in reply["reason"]
        await client.close()

    with kernel(tmp_path, SERVICE) as running:
        running.run(scene(running))


def test_an_rpc_answers_or_says_what_is_wrong(tmp_path: Path):
    """One that raises does not answer: its caller calls it unavailable."""

    async def answer(context: Context, ask: Value) -> Value:
        if isinstance(ask, TokenFor) and ask.agent == "raises":
            raise RuntimeError("broken")
        return Accepted(events=("one",))

    broker = Service(
        name="broker", view=Nothing, handles=(), rpcs=(Rpc("token", TokenFor, answer),)
    )
    ask = TokenFor(
        run="r1",
        attempt="a",
        agent="a0001",
        genome="0" * 64,
        purpose="epoch",
        restart=0,
        expires_at=0,
    )

    async def scene(running: Kernel) -> None:
        assert b'"one"' in await running.call("sandbox", "broker", "token", ask)
        refused = await running.call("sandbox", "broker", "token", Accepted(events=()))
        assert b"the request is not valid" in refused
        context = running.context("sandbox")
        raises = ask.model_copy(update={"agent": "raises"})
        with pytest.raises(Unavailable):
            await context.call("broker", "token", raises, timeout=1)

    with kernel(tmp_path, broker, voice("sandbox")) as running:
        running.run(scene(running))
