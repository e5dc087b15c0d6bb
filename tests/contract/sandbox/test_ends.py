"""How attempts end: by themselves, at a limit, or from outside."""

import asyncio
import time
from collections.abc import Callable

import pytest

from services.sandbox.port import Containers, Outcome, Spec
from tests.support.loop import go

Attempt = Callable[..., Outcome]
FORK_BOMB = """
import os, time
made = 0
for _ in range(400):
    try: pid = os.fork()
    except OSError: break
    if pid == 0: time.sleep(60)
    made += 1
print(made)
"""


def test_an_exit_code_is_told_with_the_last_words(attempt: Attempt) -> None:
    """A crash keeps its code, its output and what it had written."""
    outcome = attempt(
        "open('half', 'w').write('1'); print('out'); raise SystemExit('died \\x1b[31m')"
    )
    assert (outcome.reason, outcome.exit_code, outcome.stdout) == ("exit", 1, b"out\n")
    assert outcome.log == "died \N{REPLACEMENT CHARACTER}[31m\n".encode()
    assert outcome.frozen is not None and len(outcome.frozen.files) == 1
    assert 0 < outcome.cpu_seconds < 2 and 0 < outcome.wall_seconds < 5


def test_a_signal_and_a_missing_program_have_the_shell_s_codes(attempt: Attempt) -> None:
    """128 plus the signal, and 127."""
    assert attempt("import os; os.kill(os.getpid(), 11)").exit_code == 139
    assert attempt(argv=("/usr/bin/nothing-of-the-kind",)).exit_code == 127


def test_a_missing_folder_is_a_failed_start(attempt: Attempt) -> None:
    """What bubblewrap refuses is not blamed on the organism."""
    outcome = attempt(cwd="/nowhere")
    assert (outcome.reason, outcome.exit_code) == ("start_failed", None)
    assert "/nowhere" in outcome.detail


def test_a_hang_ends_at_the_deadline_after_the_signal_to_finish(attempt: Attempt) -> None:
    """Ignoring signals helps nobody, and what was written until then is frozen."""
    outcome = attempt(
        "import os, time\nif os.fork() == 0: os.setsid()\n"
        "while not os.path.exists('/signals/finalize'): time.sleep(.01)\n"
        "open('seen', 'w')\ntime.sleep(60)",
        seconds=2.2,
    )
    assert (outcome.reason, outcome.exit_code) == ("deadline", None)
    assert 1.0 < outcome.wall_seconds < 3.0
    assert outcome.frozen is not None and [file.path for file in outcome.frozen.files] == ["seen"]


def test_what_an_organism_leaves_running_dies_with_it(attempt: Attempt) -> None:
    """Its end is the end of the attempt, whatever holds its output open."""
    outcome = attempt("import os, time\nif os.fork() == 0: os.setsid(); time.sleep(60)")
    assert outcome.reason == "exit" and outcome.wall_seconds < 5


def test_a_gigabyte_meets_the_quota(attempt: Attempt) -> None:
    """The state is a file system of its own size."""
    outcome = attempt("f = open('big', 'wb')\nfor _ in range(1024): f.write(b'x' * (1 << 20))")
    assert (outcome.reason, outcome.exit_code) == ("quota", 1)
    assert b"No space left" in outcome.log
    outcome = attempt("for i in range(10000): open(str(i), 'w')", limits={"state_inodes": 500})
    assert outcome.reason == "quota"


def test_a_file_larger_than_its_limit_is_cut(attempt: Attempt) -> None:
    """The limit of one file holds inside."""
    outcome = attempt("open('big', 'wb').write(b'x' * (2 << 20))", limits={"file_mb": 1})
    assert outcome.exit_code == 1 and b"File too large" in outcome.log


def test_a_fork_bomb_is_contained(attempt: Attempt) -> None:
    """Processes are counted in this sandbox alone."""
    outcome = attempt(FORK_BOMB, limits={"pids": 24})
    assert 15 <= int(outcome.stdout) <= 24


def test_a_memory_hog_is_killed(attempt: Attempt) -> None:
    """One process, and several that share the work."""
    hog = "x = []\nwhile True: x.append(b'x' * (4 << 20)); time.sleep(.002)"
    outcome = attempt(f"import time\n{hog}", limits={"memory_mb": 96})
    assert outcome.reason == "oom" and outcome.wall_seconds < 10
    outcome = attempt(
        f"import os, time\nos.fork(); os.fork()\n{hog}", limits={"memory_mb": 96}, seconds=3
    )
    assert outcome.reason in ("oom", "deadline")


def test_a_share_of_a_processor_is_not_exceeded(containers: Containers, attempt: Attempt) -> None:
    """Two busy processes together get half a processor."""
    if any(gap.limit == "cpus" for gap in go(containers.probe()).not_enforced):
        pytest.skip("no writable cgroup: this limit is not enforced here")
    busy = "import os, time\nos.fork()\nends = time.time() + 1\nwhile time.time() < ends: pass"
    outcome = attempt(busy, limits={"cpus": 0.5})
    assert outcome.cpu_seconds < 0.75 * outcome.wall_seconds


def test_a_deadline_in_the_past_ends_at_once(attempt: Attempt) -> None:
    """However early the kill comes, nothing hangs."""
    for seconds in (-1.0, 0.0, 0.02):
        outcome = attempt("import time; time.sleep(60)", seconds=seconds)
        assert outcome.reason == "deadline" and outcome.wall_seconds < 1.5


def test_a_flood_of_output_is_drained_and_cut(attempt: Attempt) -> None:
    """A line of 100 MiB reaches neither the log nor the kernel's memory."""
    flood = (
        "import os\nx = b'x' * (1 << 20)\n"
        "for _ in range(100): os.write({fd}, x)\nos.write({fd}, b'end')"
    )
    outcome = attempt(flood.format(fd=2))
    assert outcome.exit_code == 0 and len(outcome.log) <= 64 << 10
    outcome = attempt(flood.format(fd=1), stdout_limit=1000)
    assert (len(outcome.stdout), outcome.stdout_truncated, outcome.exit_code) == (1000, True, 0)


def test_the_log_is_the_end_of_stderr(attempt: Attempt) -> None:
    """What was said last explains most."""
    outcome = attempt("import sys\nfor i in range(99999): sys.stderr.write(f'{i}\\n')")
    assert outcome.log.endswith(b"\n99998\n") and len(outcome.log) == 64 << 10


def test_stop_kills_within_a_second(containers: Containers, spec: Callable[..., Spec]) -> None:
    """The attempt is told as stopped and leaves no evidence."""

    async def scene() -> tuple[Outcome, float]:
        running = asyncio.create_task(containers.run(spec("import time; time.sleep(60)")))
        await asyncio.sleep(0.3)
        began = time.monotonic()
        await containers.stop("a0001")
        took = time.monotonic() - began
        return await running, took

    outcome, took = go(scene())
    assert (outcome.reason, outcome.frozen, took < 1.0) == ("stopped", None, True)


@pytest.mark.parametrize("after", [0.0, 0.02, 0.3])
def test_a_cancelled_caller_kills_the_attempt(
    containers: Containers, spec: Callable[..., Spec], after: float
) -> None:
    """At any moment of the start; the name is free again at once."""

    async def scene() -> float:
        running = asyncio.create_task(containers.run(spec("import time; time.sleep(60)")))
        await asyncio.sleep(after)
        running.cancel()
        began = time.monotonic()
        await asyncio.gather(running, return_exceptions=True)
        return time.monotonic() - began

    assert go(scene()) < 1.0
    assert go(containers.run(spec())).exit_code == 0
