"""A server process of its own, and a client for it."""

import json
import subprocess
import sys

import httpx

from schemas.values.answers import ANSWERS


class Offline:
    """A server process of its own, and a client for it."""

    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-m", "kadath.offline", "--port", "0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = json.loads(self.process.stdout.readline())["url"]
        self.client = httpx.Client(timeout=20)

    def post(self, body: dict) -> httpx.Response:
        return self.client.post(self.url + "/chat/completions", json=body)

    def ask(self, schema: str, question: dict, **more: object) -> httpx.Response:
        answer_schema = ANSWERS[schema].model_json_schema() if schema in ANSWERS else {}
        named = {"name": schema, "schema": answer_schema, "strict": True}
        messages = [
            {"role": "system", "content": "You are a specialist."},
            {"role": "user", "content": json.dumps(question)},
        ]
        form = {"type": "json_schema", "json_schema": named}
        return self.post({"model": "offline", "messages": messages, "response_format": form} | more)

    def stats(self) -> dict:
        return self.client.get(self.url.removesuffix("/v1") + "/stats").json()

    def close(self) -> None:
        self.client.close()
        self.process.terminate()
        assert self.process.wait(10) == 0
