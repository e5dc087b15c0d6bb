"""Tries on this daemon what an attempt needs, by running one; says what cannot be enforced."""

import hashlib
import platform
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

from services.kit import edges
from services.sandbox.local import seccomp
from services.sandbox.local.probing import IO, LIMITS, SECONDS, lay_out, works
from services.sandbox.port import Gap, Outcome, Probe, Spec

RECIPE = Path(__file__).parents[3] / "deploy" / "docker"
ALWAYS = ("wall time", "state size", "state files", "tmp size", "file size", "log size", "network",
          "CPU seconds a process", "memory", "processes", "cpus", "capabilities")  # fmt: skip
SCRIPT = """
import os, resource as r
status = open("/proc/self/status").read()
assert [r.getrlimit(which)[1] for which in (r.RLIMIT_FSIZE, r.RLIMIT_CORE)] == [3 << 20, 0]
assert "Seccomp:\\t2" in status and "CapBnd:\\t0000000000000000" in status, status
assert "NoNewPrivs:\\t1" in status and os.getuid() == 65532, status
assert os.listdir("/sys/class/net") == ["lo"] and os.environ["CHECK"] == "seen"
held = bytearray(1 << 20)
children = []
try:
    for _ in range(64):
        children.append(os.fork())
        if not children[-1]:
            import time; time.sleep(60)
except OSError:
    pass
assert len(children) < 24, "processes are not limited"
os.remove("gone"); os.remove("folder/old"); os.rmdir("folder"); os.mkdir("folder")
open("folder/new", "w").write("new"); open("changed", "a").write("more")
"""
HOG = "held = []\nwhile True: held.append(bytearray(8 << 20))"
MEMORY = Gap("memory in total", "the daemon's cgroups do not bound it on this machine")


def tag() -> str:
    """The image of this version's recipe, as deploy/docker/build.sh names it."""
    content = b"".join((RECIPE / name).read_bytes() for name in ("Dockerfile", "base.sh"))
    return f"kadath-organism:{hashlib.sha256(content).hexdigest()[:16]}"


def no_image(image: str) -> Probe:
    reason = f"the image {image} is not there"
    return Probe(ok=False, reason=reason, install_hint="deploy/docker/build.sh [BASE_IMAGE]")


def no_daemon(error: Exception) -> Probe:
    reason = f"no Docker daemon answers ({type(error).__name__}: {error})"
    return Probe(ok=False, reason=reason, install_hint="start dockerd, or set DOCKER_HOST")


async def probe(attempt: Callable[[Spec], Awaitable[Outcome]], root: Path) -> Probe:
    """One attempt that looks around, one that takes more memory than it may."""
    if not seccomp.supported():
        return Probe(ok=False, reason=f"no seccomp filter for {platform.machine()}")
    root.mkdir(parents=True, exist_ok=True)
    lower, spool = lay_out(root), root / "spool"
    try:
        outcome = await attempt(_trial(SCRIPT, spool, lower))
        if not works(outcome):
            return Probe(ok=False, reason=f"the trial container failed: {_explain(outcome)}")
        hog = await attempt(_trial(HOG, spool, None))
    finally:
        shutil.rmtree(lower)
        shutil.rmtree(spool, ignore_errors=True)
    gaps = (IO,) if hog.reason == "oom" else (IO, MEMORY)
    enforced = tuple(limit for limit in ALWAYS if hog.reason == "oom" or limit != "memory")
    return Probe(ok=True, enforced=enforced, not_enforced=gaps)


def _trial(script: str, spool: Path, state: Path | None) -> Spec:
    now = edges.unix()
    return Spec(
        name="probe",
        run="probe",
        argv=("/usr/bin/python3", "-I", "-S", "-c", script),
        env={"CHECK": "seen"},
        limits=LIMITS,
        finalize_at=now + SECONDS,
        deadline_at=now + SECONDS,
        spool=spool,
        state=state,
    )


def _explain(outcome: Outcome) -> str:
    log = outcome.log.decode(errors="replace").strip()
    return outcome.detail or log or f"it ended with {outcome.reason} {outcome.exit_code}"
