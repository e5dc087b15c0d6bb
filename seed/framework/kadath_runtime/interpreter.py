"""Runs the agent's code in a child process; to smolagents it is one more Python executor."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from smolagents.local_python_executor import CodeOutput, PythonExecutor

from kadath_runtime.horizon import Horizon
from kadath_runtime.pipes import Tail, ready, take, write_all

MAX_MESSAGE_BYTES = 32 * 1024 * 1024
MAX_OUTPUT_BYTES = 50_000
GRACE_SECONDS = 2.0
START = "from kadath_runtime.child import main; main({}, {})"
GONE = "the interpreter ended ({}); a new one starts with the next step, without your variables"


class CodeFailed(Exception):
    """The code raised, took too long or broke its interpreter; the message is for the model."""


class ChildInterpreter(PythonExecutor):
    """One persistent child; it starts with the first code and again after it died."""

    def __init__(
        self,
        call: Callable[..., Any],
        places_genome: Path,
        cwd: Path,
        horizon: Horizon,
        step_seconds: float,
    ):
        self._call, self._genome, self._cwd = call, places_genome, cwd
        self._horizon, self._step_seconds = horizon, step_seconds
        self._tools: list[str] = []
        self._variables: dict[str, Any] = {}
        self._child: subprocess.Popen[bytes] | None = None
        self._buffer = bytearray()
        self.state: dict[str, Any] = {"_print_outputs": ""}

    def send_tools(self, tools: dict[str, Any]) -> None:
        self._tools = list(tools)

    def send_variables(self, variables: dict[str, Any]) -> None:
        self._variables |= variables

    def __call__(self, code_action: str) -> CodeOutput:
        if self._child is None or self._child.poll() is not None:
            self._start()
        output = Tail(MAX_OUTPUT_BYTES, head=MAX_OUTPUT_BYTES // 2)
        try:
            self._send({"run": code_action, "tools": self._tools, "variables": self._variables})
            done = self._until_done(output)
        finally:
            self._drain(output)
            self.state["_print_outputs"] = output.text()
        if "error" in done:
            raise CodeFailed(str(done["error"]))
        final = bool(done.get("final"))
        value = done.get("answer") if final else done.get("value")
        return CodeOutput(output=value, logs=output.text(), is_final_answer=final)

    def cleanup(self) -> None:
        """End the child and what it started in its session."""
        child, self._child = self._child, None
        if child is None:
            return
        _kill(child)
        for fd in (self._in, self._out, self._print):
            os.close(fd)
        self._buffer.clear()

    def _start(self) -> None:
        self.cleanup()
        child_in, self._in = os.pipe()
        self._out, child_out = os.pipe()
        self._print, child_print = os.pipe()
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-c", START.format(child_in, child_out)],
            stdin=subprocess.DEVNULL,
            stdout=child_print,
            stderr=child_print,
            pass_fds=(child_in, child_out),
            cwd=self._cwd,
            start_new_session=True,
            env=child_environment(self._genome),
        )
        for fd in (child_in, child_out, child_print):
            os.close(fd)
        for fd in (self._in, self._out, self._print):
            os.set_blocking(fd, False)

    def _until_done(self, output: Tail) -> dict[str, Any]:
        end, interrupted = time.monotonic() + self._step_seconds, False
        while True:
            message = self._receive(output, end)
            if message is None and not interrupted:
                # The child may stop its code and keep its variables; if it does not, it dies.
                self._signal(signal.SIGINT)
                end, interrupted = time.monotonic() + GRACE_SECONDS, True
            elif message is None:
                raise self._died("stopped: it took longer than one step may")
            elif isinstance(message.get("done"), dict):
                return message["done"]
            else:
                began = time.monotonic()
                self._send(self._answer(message))
                end += time.monotonic() - began

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        name, args, kwargs = message.get("call"), message.get("args"), message.get("kwargs")
        if not (isinstance(name, str) and isinstance(args, list) and isinstance(kwargs, dict)):
            raise self._died("it broke the protocol")
        return self._call(name, args, kwargs)

    def _receive(self, output: Tail, end: float) -> dict[str, Any] | None:
        """The next message, or None at the end of the time."""
        while b"\n" not in self._buffer:
            seconds = end - time.monotonic()
            if seconds <= 0:
                return None
            for fd in ready([self._out, self._print], seconds):
                content = take(fd)
                if content == b"" and fd == self._out:
                    raise self._died("it ended itself or was killed")
                if content == b"":
                    # Output is closed but messages may follow: do not spin on it.
                    time.sleep(0.01)
                elif fd == self._print:
                    output.add(content or b"")
                else:
                    self._buffer += content or b""
            if len(self._buffer) > MAX_MESSAGE_BYTES:
                raise self._died("a value is too large")
        line, _, rest = self._buffer.partition(b"\n")
        self._buffer = rest
        return self._parsed(bytes(line))

    def _parsed(self, line: bytes) -> dict[str, Any]:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise self._died("it broke the protocol")
        return message

    def _send(self, message: dict[str, Any]) -> None:
        try:
            write_all(self._in, json.dumps(message).encode() + b"\n", GRACE_SECONDS + 8)
        except (OSError, TimeoutError) as error:
            raise self._died("it does not listen") from error

    def _drain(self, output: Tail) -> None:
        while self._child is not None and (content := take(self._print)):
            output.add(content)

    def _died(self, reason: str) -> CodeFailed:
        if self._child is not None:
            _kill(self._child)
        return CodeFailed(GONE.format(reason))

    def _signal(self, number: int) -> None:
        if self._child is not None and self._child.poll() is None:
            self._child.send_signal(number)


def child_environment(genome: Path) -> dict[str, str]:
    """The parent's environment, without token or gateway."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("KADATH_", "OPENAI_"))}
    paths = [str(genome), *kept.get("PYTHONPATH", "").split(":")]
    return kept | {"PYTHONPATH": ":".join(dict.fromkeys(path for path in paths if path))}


def _kill(child: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()
