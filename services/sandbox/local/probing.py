"""Tries on this machine what an attempt needs, by running one; says what cannot be enforced."""

import platform
import shutil
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from schemas.values.runtime import Limits
from services.sandbox.local import seccomp
from services.sandbox.port import Gap, Outcome, Probe, Spec

Attempt = Callable[[Spec, bool], Awaitable[tuple[Outcome, str | None]]]

LIMITS = Limits(memory_mb=128, pids=16, state_mb=4, state_inodes=256, tmp_mb=1, file_mb=3)
SECONDS = 20
HINT = "apt-get install bubblewrap"
ALWAYS = ("wall time", "state size", "state files", "tmp size", "file size", "log size", "network",
          "CPU seconds a process", "processes (rlimit)")  # fmt: skip
SCRIPT = """
import os, resource as r, sys
limits = [r.getrlimit(which)[1] for which in (r.RLIMIT_NPROC, r.RLIMIT_FSIZE, r.RLIMIT_CORE)]
assert limits == [16, 3 << 20, 0], limits
assert os.environ["CHECK"] == "seen" and "Seccomp:\\t2" in open("/proc/self/status").read()
os.remove("gone"); os.remove("folder/old"); os.rmdir("folder"); os.mkdir("folder")
open("folder/new", "w").write("new"); open("changed", "a").write("more")
"""
MEMORY = Gap(
    "memory in total",
    "no writable cgroup: memory is summed from /proc every 100 ms, a shorter burst may pass,"
    " and anonymous files that nobody maps are not seen",
)
CPU = Gap("cpus", "no writable cgroup: only the CPU seconds of each process are bounded")
COPY = Gap("state by overlay", "this kernel allows none to users: the inherited state is copied")
IO = Gap("disk and memory bandwidth", "not limited by this backend")


def refusal(bwrap: str, python: str) -> Probe | None:
    """What needs no attempt to be seen."""
    if not seccomp.supported():
        return Probe(ok=False, reason=f"no seccomp filter for {platform.machine()}")
    if shutil.which(bwrap) is None:
        return Probe(ok=False, reason=f"{bwrap} (bubblewrap) is not installed", install_hint=HINT)
    if shutil.which(python) is None:
        reason = f"{python} is not installed"
        return Probe(ok=False, reason=reason, install_hint="apt-get install python3-minimal")
    return None


def lay_out(root: Path) -> Path:
    """An inherited state for the trial; the caller hands it to the sandbox user."""
    lower = root / "probe"
    (lower / "folder").mkdir(parents=True, exist_ok=True)
    for path in ("gone", "changed", "folder/old"):
        (lower / path).write_text("old\n")
    return lower


class Found(NamedTuple):
    """What later attempts may rely on."""

    overlay: bool = False
    cgroups: bool = False


async def probe(attempt: Attempt, lower: Path, spool: Path) -> tuple[Probe, Found]:
    """The answer, and what was found for the attempts to come."""
    for overlay in (True, False):
        outcome, groups = await attempt(_trial(lower, spool), overlay)
        if works(outcome):
            return _report(groups, overlay), Found(overlay, groups is not None)
    return Probe(ok=False, reason=_explain(outcome), install_hint=_hint(outcome)), Found()


def _trial(lower: Path, spool: Path) -> Spec:
    now = time.time()
    return Spec(
        name="probe",
        run="probe",
        argv=("/usr/bin/python3", "-I", "-S", "-c", SCRIPT),
        env={"CHECK": "seen"},
        limits=LIMITS,
        finalize_at=now + SECONDS,
        deadline_at=now + SECONDS,
        spool=spool,
        state=lower,
    )


def works(outcome: Outcome) -> bool:
    if outcome.reason != "exit" or outcome.exit_code != 0 or outcome.frozen is None:
        return False
    marks = [(file.path, file.mark) for file in outcome.frozen.files]
    expected = [("changed", "modified"), ("folder/new", "new")]
    return marks == expected and outcome.frozen.deleted == ("folder/old", "gone")


def _report(groups: str | None, overlay: bool) -> Probe:
    enforced, gaps = list(ALWAYS), [IO]
    if groups is None:
        gaps += [MEMORY, CPU]
    else:
        enforced += [f"{limit} (cgroup {groups})" for limit in ("memory", "processes", "cpus")]
    return Probe(
        ok=True, enforced=tuple(enforced), not_enforced=tuple(gaps + ([] if overlay else [COPY]))
    )


def _explain(outcome: Outcome) -> str:
    log = outcome.log.decode(errors="replace").strip()
    what = outcome.detail or log or f"the trial ended with {outcome.reason} {outcome.exit_code}"
    if "unshare" in what or "uid_map" in what:
        return f"user namespaces are not allowed to the sandbox user here ({what})"
    return f"the trial sandbox failed: {what}"


def _hint(outcome: Outcome) -> str:
    if "unshare" in outcome.detail or "uid_map" in outcome.detail:
        return (
            "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, or"
            " kernel.apparmor_restrict_unprivileged_userns=0), or use the Docker backend"
        )
    return ""
