"""What the backend says of the machine, and that it never runs without isolation."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from services.sandbox.local import LocalContainers
from services.sandbox.local.seccomp import MACHINES, program
from services.sandbox.port import Spec


def test_without_bubblewrap_nothing_runs(home: Path, spec: Callable[..., Spec]) -> None:
    """The refusal names the package."""
    containers = LocalContainers(home / "b", bwrap="/nonexistent/bwrap")
    outcome = asyncio.run(containers.run(spec("open('/tmp/escaped', 'w')")))
    assert (outcome.reason, outcome.exit_code) == ("start_failed", None)
    assert "apt-get install bubblewrap" in outcome.detail
    probe = asyncio.run(containers.probe())
    assert (probe.ok, probe.install_hint) == (False, "apt-get install bubblewrap")


def test_a_bubblewrap_that_fails_is_a_refusal(home: Path, spec: Callable[..., Spec]) -> None:
    """The trial attempt decides, not the presence of a file."""
    containers = LocalContainers(home / "b", bwrap="/usr/bin/false")
    probe = asyncio.run(containers.probe())
    assert not probe.ok and probe.reason
    assert asyncio.run(containers.run(spec())).reason == "start_failed"


def test_the_probe_runs_once(local: LocalContainers) -> None:
    """Later answers are the first one."""
    assert asyncio.run(local.probe()) is asyncio.run(local.probe())


def test_missing_cgroups_are_admitted(home: Path, local: LocalContainers) -> None:
    """What is not bounded is named with its reason; the rest is enforced."""
    probe = asyncio.run(LocalContainers(home / "b", cgroups=False, overlay=False).probe())
    gaps = {gap.limit for gap in probe.not_enforced}
    assert {"memory in total", "cpus"} <= gaps and "state size" in probe.enforced
    assert os.geteuid() != 0 or "memory in total" not in {
        gap.limit for gap in asyncio.run(local.probe()).not_enforced
    }


def test_memory_is_summed_where_there_is_no_cgroup(
    home: Path, local: LocalContainers, spec: Callable[..., Spec]
) -> None:
    """Four processes together meet the limit that none of them meets alone."""
    backend = LocalContainers(home / "b", cgroups=False)
    code = "import os, time\nos.fork(); os.fork()\nx = b'x' * (40 << 20)\ntime.sleep(30)"
    outcome = asyncio.run(backend.run(spec(code, limits={"memory_mb": 128})))
    assert (outcome.reason, outcome.exit_code) == ("oom", None)


def test_the_filter_is_whole_for_both_machines() -> None:
    """Eight bytes an instruction, and every jump lands inside."""
    for machine in MACHINES:
        code = program(machine)
        count = len(code) // 8
        assert len(code) % 8 == 0 and count < 4096
        for at in range(count):
            kind, then, otherwise = code[8 * at], code[8 * at + 2], code[8 * at + 3]
            assert kind & 7 != 5 or at + 1 + max(then, otherwise) < count
