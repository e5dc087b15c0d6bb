"""The tools, called by code as a model writes it."""

import os
from typing import Any

from tests.support.attempt import Attempt
from tests.support.stub_model import StubModel, fenced, in_turn

EPOCH_TOOLS = {
    "list_repository",
    "read_repository_file",
    "list_workspace",
    "read_workspace_file",
    "write_workspace_file",
    "delete_workspace_file",
    "run_command",
    "start_job",
    "job_output",
    "save_artifact",
    "save_candidate",
    "log_activity",
    "search_memory",
    "rate_memory",
    "publish_memory",
    "remaining_budget",
}
REFLECTION_TOOLS = {"read_context", "list_elite", "read_elite_file", "propose_mutation"}

TRY = """
def attempt(f, *a, **k):
    try:
        return f(*a, **k)
    except Exception as error:
        return f'{type(error).__name__}: {error}'
"""


def answer(code: str, **options: Any) -> Any:
    """What the code gives as its final answer."""
    with StubModel(in_turn(fenced(TRY + code))) as stub, Attempt(**options) as attempt:
        attempt.run(stub.base_url)
        return attempt.json("candidate.json")


def system_prompt(**options: Any) -> str:
    with StubModel(in_turn(fenced("final_answer(1)"))) as stub, Attempt(**options) as attempt:
        attempt.run(stub.base_url)
        return str(stub.chats[0]["messages"][0]["content"])


def test_every_tool_and_every_argument_is_documented() -> None:
    """Fault A1: the shipped organism died at its first tool without argument documentation."""
    lines = system_prompt(purpose="reflection").splitlines()
    documented = {
        line[2:].split("(")[0]: index for index, line in enumerate(lines) if line.startswith("- ")
    }
    assert set(documented) == EPOCH_TOOLS | REFLECTION_TOOLS
    for index in documented.values():
        signature = lines[index].split("(", 1)[1].split(")")[0]
        names = [name.rstrip("?") for name in signature.split(", ") if name]
        described = [
            line.strip().split(":")[0] for line in lines[index + 1 : index + 1 + len(names)]
        ]
        assert described == names


def test_the_tools_of_an_epoch_are_the_approved_ones() -> None:
    """What the run approved is added to those that everybody has; reflection's are not there."""
    assert "propose_mutation" not in system_prompt()
    plain, prompt = system_prompt(), system_prompt(extra={"tools": ["web_search"]})
    assert "- run_command(" in plain and "- search_web(" not in plain
    assert "- run_command(" in prompt and "- search_web(" in prompt
    assert "- fetch_page(" not in prompt
    code = "final_answer(['fetch_page' in globals(), 'search_web' in globals()])"
    assert answer(code, extra={"tools": ["web_fetch"]}) == [True, False]


def test_a_small_model_gets_the_compact_form() -> None:
    """Chosen by the token budget; every tool stays named."""
    compact, full = system_prompt(limits={"prompt_tokens": 3000}), system_prompt()
    assert len(compact) < len(full) * 0.75
    assert all(f"- {name}(" in compact for name in EPOCH_TOOLS)


def test_the_prompt_is_bounded_whatever_memory_holds() -> None:
    """Goal and criterion stay; memory and old turns give way; the prefix is equal in all calls."""
    flood = fenced("print('y' * 19_000)")
    with (
        StubModel(in_turn(flood)) as stub,
        Attempt(steps=8, limits={"prompt_tokens": 8000}) as attempt,
    ):
        stub.records = [
            {"record": f"m{n}", "scope": "own", "summary": "z" * 100_000} for n in range(500)
        ]
        attempt.run(stub.base_url)
        sizes = [sum(len(m["content"]) for m in chat["messages"]) for chat in stub.chats]
        assert max(sizes) < 8000 * 4
        assert len({chat["messages"][0]["content"] for chat in stub.chats}) == 1
        assert all("Find a large number." in chat["messages"][1]["content"] for chat in stub.chats)
        assert all("Larger is better." in chat["messages"][1]["content"] for chat in stub.chats)
        assert "earlier turns are left out" in str(stub.chats[-1]["messages"])
        assert stub.chats[-1]["messages"][-1]["content"].endswith("tokens TIGHT.]")


def test_workspace_files() -> None:
    """Write, list, read, delete."""
    code = """
write_workspace_file('a/b.txt', 'ä\\ud800')
text = read_workspace_file('a/b.txt')
one = (list_workspace(), list_workspace('*.py'), list_workspace('a'), text)
delete_workspace_file('a/b.txt')
final_answer([*one, list_workspace()])
"""
    assert answer(code) == [["a/b.txt"], [], ["a/b.txt"], "ä?", []]


def test_paths_cannot_leave_their_folder() -> None:
    """Absolute, dot-dot, links at any place, FIFOs that would block, NUL, folders."""
    code = """
import os
os.symlink('/etc', 'out'); os.symlink('/etc/passwd', 'file'); os.mkfifo('fifo'); os.mkdir('folder')
paths = ['/etc/passwd', '../candidate.json', 'a/../../x', 'out/passwd', 'file', 'fifo', 'folder']
paths += ['a\\0b', '', 'x' * 2000]
found = [attempt(read_workspace_file, p) for p in paths]
found += [attempt(write_workspace_file, p, 'x') for p in ['/tmp/x', '../x', 'out/x', 'a\\0b', '']]
found += [attempt(read_repository_file, p) for p in ['../input/x', '/etc/passwd', '.git/config']]
found += [attempt(save_artifact, p, 'x') for p in ['../x', '/tmp/x']]
found += [attempt(delete_workspace_file, p) for p in ['folder', '../candidate.json']]
wrong = [f for f in found if not f.startswith('ToolError: ')]
write_workspace_file('file', 'mine')
final_answer([wrong, list_workspace(), open('/etc/passwd').read()[:4]])
"""
    assert answer(code) == [[], ["file"], "root"]


def test_the_sizes_of_files_and_values_are_bounded() -> None:
    """The limits of the reference."""
    code = """
big = 'x' * 1_000_001
found = [attempt(write_workspace_file, 'f', big), attempt(save_artifact, 'f', 'x' * 2_000_001),
         attempt(save_candidate, 'x' * 5_000_001), attempt(run_command, 'x' * 4001)]
open('big', 'w').write(big)
found.append(attempt(read_workspace_file, 'big'))
final_answer([f.startswith('ToolError: ') for f in found])
"""
    assert answer(code) == [True] * 5


def test_the_own_source_can_be_read() -> None:
    """An organism can look at what it is made of."""
    code = """
source = read_repository_file('organism.py')
final_answer([len(list_repository()) > 30, 'take_token' in source])
"""
    assert answer(code) == [True, True]


def test_commands_are_bounded() -> None:
    """Exit code, both streams, the last 100,000 characters, the time, and what it left running."""
    code = """
import time
one = run_command('echo out; echo err >&2; pwd; exit 3')
two = run_command("head -c 300000 /dev/zero | tr '\\\\0' x; echo end")
began = time.time()
three = run_command('echo early; sleep 60', timeout_seconds=1)
four = run_command('sleep 60 & echo quick')
took = time.time() - began
out = two['stdout']
final_answer([one, len(out), out[-4:], two['truncated'], three, four['stdout'], took < 3])
"""
    one, length, end, truncated, three, four, quick = answer(code)
    assert (one["exit_code"], one["stderr"]) == (3, "err\n")
    assert one["stdout"].startswith("out\n") and one["stdout"].endswith("/state/workspace\n")
    assert (length, end, truncated) == (100_000, "end\n", True)
    assert (three["exit_code"], three["stdout"]) == (124, "early\n")
    assert (four, quick) == ("quick\n", True)


def test_a_job_is_collected_later_and_ends_with_the_organism() -> None:
    """Nothing survives, not even its log."""
    code = """
import time
job = start_job('echo begun; sleep 0.2; echo ended; exit 4')
other = start_job('echo $$; exec sleep 60')
while job_output(job)['running'] or not job_output(other)['output']:
    time.sleep(0.02)
final_answer([job_output(job), job_output(other)['output'], attempt(job_output, 'job9')])
"""
    with StubModel(in_turn(fenced(TRY + code))) as stub, Attempt() as attempt:
        attempt.run(stub.base_url)
        done, pid, unknown = attempt.json("candidate.json")
        assert (done["exit_code"], done["output"]) == (4, "begun\nended\n")
        assert unknown.startswith("ToolError")
        assert not os.path.exists(f"/proc/{pid.strip()}")
        assert not (attempt.state / "jobs").exists()


def test_memory_and_activity_go_through_the_broker() -> None:
    """One ranked API; best first."""
    code = """
log_activity('did it', outcome='3', evidence_refs=['a'])
found = search_memory('circles', limit=1)
rate_memory('m1', 1)
state = remaining_budget()['state']
final_answer([found, publish_memory('insight'), attempt(rate_memory, 'm1', 5), state])
"""
    with StubModel(in_turn(fenced(TRY + code))) as stub, Attempt() as attempt:
        stub.records = [{"record": "m1", "summary": "best"}, {"record": "m2", "summary": "worse"}]
        attempt.run(stub.base_url)
        found, published, refused, state = attempt.json("candidate.json")
        assert (found, published, state) == ([stub.records[0]], "m1", "NORMAL")
        assert refused == "ToolError: rate_memory: value is 1 or -1"
        assert [line["summary"] for line in attempt.lines("activity.jsonl")] == ["did it"]
        paths = {path.split("?")[0] for _, path, _ in stub.side_calls}
        assert paths == {
            "/memory",
            "/activity",
            "/memory/ratings",
        }


def test_calls_are_metered_and_checked() -> None:
    """Unknown arguments are errors; a loop of calls meets a limit."""
    code = """
found = [attempt(list_workspace, nothing=1), attempt(read_workspace_file)]
found += [attempt(list_workspace) for _ in range(300)]
final_answer([found[0], found[1], sum(isinstance(f, list) for f in found), found[-1]])
"""
    unknown, missing, allowed, last = answer(code)
    assert "nothing" in unknown and "path" in missing
    assert allowed == 198
    assert "more than 200 tool calls" in last


def test_solvers_run_at_full_speed() -> None:
    """Plain execution, not an interpreter of syntax trees: a million additions in no time."""
    code = """
import time
began = time.process_time()
n = 0
for k in range(1_000_000):
    n += k
final_answer([n, time.process_time() - began])
"""
    total, seconds = answer(code)
    assert total == 499999500000
    assert seconds < 2
