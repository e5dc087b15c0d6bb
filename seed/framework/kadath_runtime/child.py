"""The interpreter that runs model-written code: no token, and tools only through the parent.

Speaks JSON lines over two pipes: `{"run": code}` comes in; `{"call": ...}` asks the parent for a
tool and is answered by `{"result": ...}` or `{"error": ...}`; `{"done": ...}` ends a step.
Variables live from step to step. The code can change everything here: the parent trusts none of it.
"""

import ast
import json
import linecache
import os
import signal
import sys
import threading
import types
from typing import Any, BinaryIO

MAX_TEXT = 20_000
MAX_TRACE = 4000


class FinalAnswer(BaseException):
    """Carries the answer out of the code; no `except Exception` on the way keeps it."""

    def __init__(self, value: Any):
        super().__init__("final answer")
        self.value = value


class ToolError(Exception):
    """A tool refused or failed; the message says why."""


class Channel:
    """One exchange at a time with the parent, from this very process only."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO):
        self._reader, self._writer = reader, writer
        self._lock, self._owner = threading.Lock(), os.getpid()

    def receive(self) -> dict[str, Any] | None:
        line = self._reader.readline()
        return json.loads(line) if line else None

    def send(self, message: dict[str, Any]) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")
        self._writer.flush()

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A tool's result, or `ToolError`."""
        if os.getpid() != self._owner:
            raise ToolError(
                "tools can be called from the main interpreter only, not from a process it started"
            )
        with self._lock:
            sys.stdout.flush()
            self.send({"call": name, "args": jsonable(list(args)), "kwargs": jsonable(kwargs)})
            reply = self.receive()
        if reply is None:
            raise SystemExit(0)
        if "error" in reply:
            raise ToolError(reply["error"])
        return reply["result"]


def main(read_fd: int, write_fd: int) -> None:
    """Serve until the parent closes its end."""
    for fd in (read_fd, write_fd):
        os.set_inheritable(fd, False)
    channel = Channel(os.fdopen(read_fd, "rb"), os.fdopen(write_fd, "wb"))
    sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    sys.path.insert(0, os.getcwd())
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    steps = 0
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while (message := channel.receive()) is not None:
        steps += 1
        module.__dict__.update(_bindings(message, channel))
        channel.send({"done": _step(message["run"], module.__dict__, f"<step {steps}>")})


def _bindings(message: dict[str, Any], channel: Channel) -> dict[str, Any]:
    tools = {name: _stub(name, channel) for name in message["tools"] if name != "final_answer"}
    return tools | {"final_answer": _final_answer, **message.get("variables", {})}


def _stub(name: str, channel: Channel) -> Any:
    def tool(*args: Any, **kwargs: Any) -> Any:
        return channel.call(name, args, kwargs)

    tool.__name__ = tool.__qualname__ = name
    return tool


def _final_answer(answer: Any = None, *rest: Any, **named: Any) -> None:
    raise FinalAnswer(named if answer is None and named else answer)


def _step(code: str, namespace: dict[str, Any], name: str) -> dict[str, Any]:
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        value = _execute(code, namespace, name)
        done = {"value": _shown(value), "final": False}
    except FinalAnswer as answer:
        done = {"answer": jsonable(answer.value), "final": True}
    except KeyboardInterrupt:
        done = {"error": "the code was stopped: it took longer than one step may"}
    except BaseException as error:
        done = {"error": _explained(error, name)}
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    _flush()
    return done


def _execute(code: str, namespace: dict[str, Any], name: str) -> Any:
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    tree = ast.parse(code, name)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        exec(compile(tree, name, "exec"), namespace)
        return None
    tree.body.pop()
    exec(compile(tree, name, "exec"), namespace)
    return eval(compile(ast.Expression(last.value), name, "eval"), namespace)


def _explained(error: BaseException, name: str) -> str:
    """The traceback from the model's own code on."""
    import traceback

    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename != name:
        frame = frame.tb_next
    try:
        lines = traceback.format_exception(type(error), error, frame, limit=-8)
        text = "".join(lines).strip()
    except Exception:
        text = type(error).__name__
    return text if len(text) <= MAX_TRACE else text[:500] + "\n[...]\n" + text[-MAX_TRACE + 500 :]


def _shown(value: Any) -> str:
    try:
        text = str(value)
    except Exception as error:
        text = f"<{type(value).__name__} that cannot be shown: {type(error).__name__}>"
    return (
        text
        if len(text) <= MAX_TEXT
        else text[: MAX_TEXT // 2] + "\n[...]\n" + text[-MAX_TEXT // 2 :]
    )


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


def jsonable(value: Any, depth: int = 0) -> Any:
    """The nearest JSON value; what has none becomes its text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if depth > 50:
        return _shown(value)
    if isinstance(value, dict):
        return {str(key): jsonable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [jsonable(item, depth + 1) for item in value]
    for convert in ("tolist", "item"):
        if hasattr(value, convert):
            return jsonable(getattr(value, convert)(), depth + 1)
    return _shown(value)
