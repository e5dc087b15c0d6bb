"""Model-written code in the child interpreter: hostile, broken, or large."""

import json

import pytest

from tests.support.attempt import TOKEN, Attempt
from tests.support.stub_model import Reply, StubModel, fenced, in_turn

FINISH = fenced("final_answer('finished')")

GARBLE = """
import os
for fd in range(3, 20):
    try: os.write(fd, b'garbage\\n')
    except OSError: pass
"""

DEAF = """
import time
while True:
    try: time.sleep(60)
    except KeyboardInterrupt: pass
"""

THIEF = """
import glob, os
found = []
def look(path):
    try:
        content = open(path, 'rb').read(1 << 20)
    except OSError:
        return
    found.append(path) if NEEDLE in content else None
NEEDLE = bytes.fromhex('%s')
for path in glob.glob('/proc/*/environ') + glob.glob('/proc/*/cmdline'):
    look(path)
parent = os.getppid()
try:
    open(f'/proc/{parent}/mem', 'rb').close()
    found.append('parent memory')
except OSError:
    pass
for link in ('environ', 'mem', 'maps'):
    os.symlink(f'/proc/{parent}/{link}', f'link-{link}')
    os.symlink('/proc/self', f'folder-{link}')
    for path in (f'link-{link}', f'folder-{link}/{link}', f'../workspace/link-{link}'):
        try:
            found.append(read_workspace_file(path)[:20])
        except ToolError_ as error:
            pass
for value in (run_command('cat /proc/$PPID/environ; env; ls /proc/$PPID/fd')['stdout'],):
    found.append('command') if NEEDLE in value.encode() else None
final_answer(found)
"""


def test_the_token_is_out_of_reach_of_model_code() -> None:
    """Neither environment, command line, memory, links nor commands show it; nor does the state."""
    code = THIEF.replace("ToolError_", "Exception") % TOKEN.encode().hex()
    with StubModel(in_turn(fenced(code))) as stub, Attempt() as attempt:
        attempt.run(stub.base_url)
        assert attempt.json("candidate.json") == []
        assert stub.tokens == {f"Bearer {TOKEN}"}
        files = [
            path for path in attempt.state.rglob("*") if path.is_file() and not path.is_symlink()
        ]
        assert not [path for path in files if TOKEN.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    "code",
    [
        "raise RuntimeError('boom')",
        "import os\nos._exit(3)",
        "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
        "import sys\nsys.exit(0)",
        "def f(): f()\nf()",
        GARBLE,
        "import sys\nsys.stdout.close()",
        "print('\\ud800')",
        "'\\ud800'",
        "x = (",
        "x = '\\x00",
    ],
)
def test_broken_code_costs_a_step_and_no_more(code: str) -> None:
    """The model is told, and goes on with the next step."""
    with StubModel(in_turn(fenced(code), FINISH)) as stub, Attempt() as attempt:
        attempt.run(stub.base_url)
        assert attempt.json("candidate.json") == "finished"
        assert len(stub.chats) == 2


def test_an_error_is_shown_with_its_line() -> None:
    """What the model needs to repair its code."""
    with (
        StubModel(in_turn(fenced("def f(x):\n    return 1 / x\nf(0)"), FINISH)) as stub,
        Attempt() as attempt,
    ):
        attempt.run(stub.base_url)
        shown = stub.chats[1]["messages"][-1]["content"]
        assert "line 2, in f" in shown and "return 1 / x" in shown and "ZeroDivisionError" in shown


def test_code_beyond_its_time_is_stopped_and_keeps_its_variables() -> None:
    """First an interrupt; only code that ignores it loses its interpreter."""
    slow = fenced("x = 41\nwhile True: pass")
    script = in_turn(
        slow, fenced("print(x + 1)"), fenced(DEAF), fenced("final_answer('x' in globals())")
    )
    with StubModel(script) as stub, Attempt(limits={"step_seconds": 0.4}) as attempt:
        attempt.run(stub.base_url)
        assert "longer than one step" in stub.chats[1]["messages"][-1]["content"]
        assert "42" in stub.chats[2]["messages"][-1]["content"]
        assert attempt.json("candidate.json") is False


def test_a_flood_of_output_is_bounded() -> None:
    """Beginning and end of 50 MB are kept."""
    code = fenced("print('first')\nfor _ in range(500): print('x' * 100_000)\nprint('last')")
    with StubModel(in_turn(code, FINISH)) as stub, Attempt() as attempt:
        attempt.run(stub.base_url)
        shown = stub.chats[1]["messages"][-1]["content"]
        assert len(shown) < 60_000
        assert "first" in shown and "last" in shown


@pytest.mark.parametrize(
    "reply",
    [
        "no code at all, only prose.",
        "",
        "\ud800\udfff```python\nprint('\ud800')\n```",
        "x" * 10 * 1024 * 1024,
        "```python\n" + "x" * 10 * 1024 * 1024,
        Reply(200, {"choices": [{"message": {"role": "assistant", "content": None}}]}),
        Reply(200, {"choices": [{"message": {"content": 7}}], "usage": "many"}),
        Reply(200, {"choices": {"a": 1}}),
    ],
    ids=["prose", "empty", "surrogates", "10MiB", "10MiB-code", "none", "number", "shape"],
)
def test_garbage_answers_cost_a_step(reply: "str | Reply") -> None:
    """Whatever the model says, the organism asks again, with a bounded prompt."""
    if isinstance(reply, str):
        reply = Reply(200, raw=json.dumps({"choices": [{"message": {"content": reply}}]}).encode())
    with StubModel(in_turn(reply, FINISH)) as stub, Attempt() as attempt:
        attempt.run(stub.base_url)
        assert attempt.json("candidate.json") == "finished"
        assert len(json.dumps(stub.chats[1])) < 200_000


def test_answers_that_are_no_json_become_their_nearest_value() -> None:
    """Sets, numbers beyond JSON, foreign objects, lone surrogates."""
    code = fenced(
        "final_answer({'s': {1}, 'nan': float('nan'), 'o': object, 'u': '\\ud800', 3: (1, 2)})"
    )
    with StubModel(in_turn(code)) as stub, Attempt() as attempt:
        attempt.run(stub.base_url)
        answer = attempt.json("candidate.json")
        assert (answer["s"], answer["nan"], answer["u"], answer["3"]) == ([1], None, "?", [1, 2])


def test_a_process_that_the_code_forks_cannot_speak_for_it() -> None:
    """Tools answer the interpreter itself alone."""
    code = """
import os
r, w = os.pipe()
if os.fork() == 0:
    try:
        list_workspace()
        os.write(w, b'allowed')
    except Exception as error:
        os.write(w, type(error).__name__.encode())
    os._exit(0)
os.wait()
final_answer(os.read(r, 100).decode())
"""
    with StubModel(in_turn(fenced(code))) as stub, Attempt() as attempt:
        attempt.run(stub.base_url)
        assert attempt.json("candidate.json") == "ToolError"


def test_links_and_fifos_in_place_of_the_records_do_no_harm() -> None:
    """The organism's own files are written beside them, never through them, and never block."""
    code = """
import os
os.chdir('..')
for name in ('candidate.json', '.candidate.json.tmp', 'result.json', 'progress.json'):
    if os.path.lexists(name):
        os.unlink(name)
    os.symlink('/state/artifacts/stolen', name)
os.mkfifo('.result.json.tmp')
os.mkfifo('.progress.json.tmp')
final_answer('clean')
"""
    with StubModel(in_turn(fenced(code))) as stub, Attempt() as attempt:
        attempt.run(stub.base_url)
        names = ("candidate.json", "result.json", "progress.json")
        assert not [name for name in names if (attempt.state / name).is_symlink()]
        assert attempt.json("candidate.json") == "clean"
        assert attempt.json("result.json")["status"] == "done"
