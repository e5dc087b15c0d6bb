"""Runs the scripts of tests/escape in a sandbox and judges each; makes the table of the docs.

`python -m tests.support.escapes` runs them on both backends and writes docs/escape.md.
"""

import ast
import ctypes
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.support import daemon

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "tests" / "escape").glob("*.py"))
TABLE = ROOT / "docs" / "escape.md"
SECONDS = 6
LIMITS = {"memory_mb": 96, "pids": 32, "file_mb": 16, "state_mb": 8, "state_inodes": 512,
          "tmp_mb": 4, "log_kb": 64, "cpus": 0.5, "evidence_mb": 16}  # fmt: skip
REFUSED = re.compile(r"^(?:socket\.gaierror|[A-Za-z]*Error): (?:\[Errno -?\d+\] )?(.+?)(?:: .*)?$")
KERNEL_ENDS = ("oom", "deadline", "quota")
LIBC = ctypes.CDLL(None, use_errno=True)
CANARY_TEXT = "canary-4711\n"


class Script(NamedTuple):
    """What a script says of itself in its docstring."""

    path: Path
    title: str
    about: Mapping[str, str]


class Verdict(NamedTuple):
    """`escaped`, `unbounded`, `refused`, `bounded`, `held`; `unclear` is a broken script."""

    kind: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


def read(path: Path) -> Script:
    title, _, rest = (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")
    pairs = (line.partition(": ") for line in rest.splitlines() if line)
    return Script(path, title, {name.lower(): value for name, _, value in pairs})


def judge(tried: Mapping[str, Any]) -> Verdict:
    """From how the sandbox ended it and what it said last; never from what it says of itself."""
    said = (tried["stdout"].strip().splitlines() or [""])[-1][-200:]
    log = (tried["log"].strip().splitlines() or [""])[-1]
    code, told = tried["exit_code"], re.match(r"(held|unbounded): (.+)", said or log)
    if "ESCAPED" in tried["stdout"]:
        return Verdict("escaped", said)
    if tried["reason"] in KERNEL_ENDS:
        return Verdict("bounded", tried["reason"])
    if code == 0 and (told or (told := re.match(r"(held|unbounded): (.+)", log))):
        return Verdict(told[1], told[2])
    if code is not None and code > 128:
        return Verdict("bounded", f"signal {code - 128}")
    if code == 1 and _is_refusal(log):
        found = REFUSED.match(log)
        return Verdict("refused", found[1] if found else log)
    return Verdict("unclear", f"{tried['reason']} {code} {said} {log}")


def _is_refusal(line: str) -> bool:
    """Only what the kernel of the machine answers; a mistake in the script is no refusal."""
    return "[Errno " in line or line == "RuntimeError: can't start new thread"


@contextmanager
def host() -> Iterator[dict[str, str]]:
    """Things of the host to get at, as the variables by which scripts find them."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kadath-host-")))
        folder.chmod(0o755)
        canary = folder / "canary"
        canary.write_text(CANARY_TEXT)
        canary.chmod(0o644)
        port = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind(f"\0kadath-canary-{os.getpid()}")
        abstract.listen()
        sleeper = subprocess.Popen(["sleep", "600"], env={"PLANTED": CANARY_TEXT})
        stack.callback(sleeper.wait)
        stack.callback(sleeper.kill)
        shm = LIBC.shmget(0, 4096, 0o1644)
        stack.callback(LIBC.shmctl, shm, 0, None)
        yield {
            "CANARY": str(canary),
            "KERNEL": str(folder),
            "PORT": str(port.getsockname()[1]),
            "ABSTRACT": f"kadath-canary-{os.getpid()}",
            "SHM": str(shm),
            "HOSTPID": str(sleeper.pid),
        }
        assert sleeper.poll() is None, "a process of the host was ended"
        assert canary.read_text() == CANARY_TEXT


def tried(backend: str, home: Path) -> dict[str, Any]:
    """What `kadath sandbox try` prints of every script."""
    with host() as env:
        given = [part for pair in env.items() for part in ("--env", "=".join(pair))]
        options = ["--backend", backend, "--seconds", str(SECONDS), "--limits", json.dumps(LIMITS)]
        command = [sys.executable, "-m", "kadath", "--home", str(home), "sandbox", "try", "--json"]
        done = subprocess.run(
            [*command, *options, *given, *map(str, SCRIPTS)],
            cwd=ROOT, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def table(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Attempt by backend, as Markdown."""
    judged = {
        name: {item["script"]: judge(item) for item in one["attempts"]}
        for name, one in found.items()
    }
    lines = [HEAD, f"| attempt | held by | {' | '.join(found)} |"]
    lines.append("|---|---|" + "---|" * len(found))
    for script in map(read, SCRIPTS):
        cells = [str(judged[name][script.path.stem]) for name in found]
        name = f"[{script.title.rstrip('.')}](../tests/escape/{script.path.name})"
        lines.append(f"| {name} | {script.about['held by']} | {' | '.join(cells)} |")
    for name, one in found.items():
        gaps = "; ".join(f"{limit} ({why})" for limit, why in one["not_enforced"].items())
        lines += ["", f"Not enforced by `{name}` on the machine of this table: {gaps}."]
    return "\n".join(lines) + "\n"


HEAD = """# Attempts to escape and to exhaust

Generated by `make escapes`: each row is a script of `tests/escape/`, run by `kadath sandbox try`
in a sandbox as an organism's. `refused`: the call failed with this error. `bounded`: a limit ended
the attempt. `held`: it did what it could, and the test looked at the host for any effect.
`unbounded`: nothing holds it, and preflight lists the limit as not enforced. The suite runs them
all on both backends.
"""


def main() -> None:
    if reason := daemon.trouble():
        sys.exit(reason)
    with tempfile.TemporaryDirectory() as home:
        found = {name: tried(name, Path(home)) for name in ("local", "docker")}
    TABLE.write_text(table(found))
    print(f"{len(SCRIPTS)} attempts on 2 backends: {TABLE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
