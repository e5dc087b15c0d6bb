"""A run on a real kernel with a real HTTP model, for the broker's tests."""

import json
import time
from typing import Any

import aiohttp

from schemas import Draft, Recorded, canonical, ref_of
from schemas.commands.complete import Complete, Token, TokenFor
from schemas.events.epoch import EpochExecutionClosed
from schemas.events.run import RunPreflightRequested, RunRequested
from schemas.refs import BlobRef, SecretRef
from schemas.values.capability import Capability
from schemas.values.runtime import Budget, Models
from tests.support import given
from tests.support.kernel import Kernel, real, voice

CAST = (real("broker"), voice("scheduler"), voice("sandbox"), voice("evolver"), voice("architect"))
GENOME = "0" * 64
VARIANTS = json.dumps({"variations": ["be brief"]})
HI = {"model": "mine", "messages": [{"role": "user", "content": "hi"}]}


class Stage:
    """One run; every test takes its own."""

    def __init__(self, kernel: Kernel, run: str) -> None:
        self.kernel = kernel
        self.run = run

    async def open(
        self,
        api_base: str | None,
        budget: Budget | None = None,
        secrets: tuple[str, ...] = (),
        model: str = "stub",
        tools: tuple[Capability, ...] = (),
        hosts: tuple[str, ...] = (),
    ) -> None:
        """Requested, and with the benchmark that approves `tools`."""
        request = RunRequested(
            name="test",
            goal="A goal.",
            epochs=1,
            population=4,
            epoch_seconds=60,
            models=Models(specialist=model, organism=model, api_base=api_base),
            budget=budget or Budget(),
            secrets=tuple(SecretRef(name=name) for name in secrets),
            capabilities=tools,
            hosts=hosts,
            seed=7,
        )
        await self.kernel.say("scheduler", self.run, Draft("main", request))
        content = canonical(given.benchmark(tools=tools))
        asked = RunPreflightRequested(benchmark=ref_of(content), required=())
        await self.kernel.say("scheduler", self.run, Draft("main", asked, None, (content,)))

    async def complete(self, about: str = "x", attempt_no: int = 0, **more: Any) -> dict[str, Any]:
        payload = await self.kernel.context("architect").blobs.put(canonical({"about": about}))
        ask = Complete(
            run=self.run,
            caller="architect",
            purpose="test",
            answer="birther_variants",
            about=about,
            attempt_no=attempt_no,
            system="Answer.",
            payload=payload,
            **more,
        )
        answer: dict[str, Any] = json.loads(
            await self.kernel.call("architect", "broker", "complete", ask)
        )
        return answer

    async def token(
        self,
        agent: str = "a0001",
        attempt: str = "",
        purpose: str = "epoch",
        restart: int = 0,
        seconds: float = 60.0,
    ) -> Token:
        ask = TokenFor(
            run=self.run,
            attempt=attempt or f"e001x1-{agent}",
            agent=agent,
            genome=GENOME,
            purpose=purpose,
            epoch=1,
            restart=restart,
            expires_at=time.time() + seconds,
        )
        reply = await self.kernel.call("sandbox", "broker", "token", ask)
        return Token.model_validate_json(reply)

    async def barrier(self) -> None:
        """The end of an epoch's execution: from here on others see what was published."""
        closed = EpochExecutionClosed(
            epoch=1, attempt_try=1, attempts=BlobRef(sha256=GENOME, size=0), count=0
        )
        await self.kernel.say("scheduler", self.run, Draft("e001", closed))

    async def events(self, *kinds: str) -> list[Recorded]:
        found = await self.kernel.log(self.run)
        return [r for r in found if not kinds or r.envelope.type in kinds]


def organism(token: Token, given: str | None = None) -> aiohttp.ClientSession:
    """HTTP as an attempt speaks it, over its own socket."""
    return aiohttp.ClientSession(
        base_url="http://gateway",
        connector=aiohttp.UnixConnector(path=f"{token.socket_dir}/gateway.sock"),
        headers={"Authorization": f"Bearer {token.token if given is None else given}"},
    )


def completion(text: str, finish: str = "stop") -> dict[str, object]:
    """A chat completion as a server sends it."""
    message = {"role": "assistant", "content": text}
    return {
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
    }
