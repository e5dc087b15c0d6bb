"""Runs the real seed in a real /usr/bin/python3 process, in folders laid out like a sandbox's."""

import atexit
import functools
import json
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from seed.layer import FRAMEWORK, INTERPRETER, compile_tree

TOKEN = "token-that-nobody-may-see"
SANDBOX_USER = 65532


@functools.cache
def bytecode() -> Path:
    """The seed compiled once a session, as the kernel compiles each genome once."""
    folder = Path(tempfile.mkdtemp(prefix="seed-pyc-"))
    folder.chmod(0o755)
    atexit.register(shutil.rmtree, folder)
    return compile_tree(FRAMEWORK, folder, mounted=str(FRAMEWORK))


@dataclass
class Attempt:
    """`with Attempt(...) as attempt: attempt.run(stub.base_url)`; then see `attempt.state`."""

    purpose: str = "epoch"
    passes: int = 1
    steps: int = 4
    seconds: float = 20.0
    window: float = 5.0
    limits: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    context: dict[str, Any] | None = None

    def __enter__(self) -> Self:
        self.root = Path(tempfile.mkdtemp(prefix="seed-"))
        self.root.chmod(0o755)
        self.state, self.inputs, self.signals = (
            self.root / n for n in ("state", "input", "signals")
        )
        for folder in (self.state, self.inputs, self.signals):
            folder.mkdir()
        if os.geteuid() == 0:
            os.chown(self.state, SANDBOX_USER, SANDBOX_USER)
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.root)

    def start(self, base_url: str) -> "subprocess.Popen[str]":
        """The organism's process; as root it becomes the sandbox's user, as in a sandbox."""
        self._write_inputs()
        env = {
            "PATH": "/usr/bin:/bin",
            "HOME": "/tmp",
            "LANG": "C.UTF-8",
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": str(FRAMEWORK),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPYCACHEPREFIX": str(bytecode()),
            "OPENAI_BASE_URL": base_url,
            "KADATH_TOKEN": TOKEN,
            "KADATH_TASK": str(self.inputs / "task.json"),
        }
        user: dict[str, Any] = {"user": SANDBOX_USER, "group": SANDBOX_USER, "extra_groups": []}
        return subprocess.Popen(
            [INTERPRETER, str(FRAMEWORK / "organism.py")],
            cwd=self.state,
            env=env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **(user if os.geteuid() == 0 else {}),
        )

    def run(self, base_url: str, expect: int = 0) -> str:
        """Start, wait, check the exit code; standard error."""
        process = self.start(base_url)
        out, err = process.communicate(timeout=30)
        assert process.returncode == expect, out + err
        return err

    def json(self, name: str) -> Any:
        path = self.state / name
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def lines(self, name: str) -> list[dict[str, Any]]:
        return [
            json.loads(line)
            for line in (self.state / name).read_text(encoding="utf-8").splitlines()
        ]

    def _write_inputs(self) -> None:
        now = time.time()
        task = {
            "run": "r1",
            "agent": "a0001",
            "attempt": "e001x1-a0001",
            "genome": "0" * 64,
            "purpose": self.purpose,
            "epoch": 1,
            "goal": "Find a large number.",
            "objective": "",
            "criterion": "Larger is better.",
            "model": "stub",
            "tools": [],
            "limits": {"passes": self.passes, "steps": self.steps} | self.limits,
            "finalize_at": now + self.seconds,
            "deadline_at": now + self.seconds + self.window,
            "seed": 1,
        }
        (self.inputs / "task.json").write_text(json.dumps(task | self.extra))
        if self.context is not None:
            (self.inputs / "context.json").write_text(json.dumps(self.context))
