"""A Docker daemon for tests: the one that answers, or one of our own where root and apt allow."""

import atexit
import os
import shutil
import subprocess
import time
from functools import cache
from pathlib import Path

BUILD = Path(__file__).parents[2] / "deploy" / "docker" / "build.sh"
PIDFILE = Path("/run/kadath-test-docker.pid")
READY_SECONDS = 20


@cache
def trouble() -> str:
    """Empty when a daemon answers and holds the organism's image; else why not."""
    try:
        _install()
        _start()
        subprocess.run([BUILD], check=True, capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.SubprocessError) as error:
        said = str(getattr(error, "stderr", "") or "").strip()[-300:]
        return f"no Docker daemon for tests: {error} {said}".strip()
    return ""


def containers(scope: str, *options: str) -> list[str]:
    """Names of the containers of one kernel; with `-a` those that ended too."""
    filters = ["--filter", "label=kadath.app=kadath", "--filter", f"label=kadath.scope={scope}"]
    command = ["docker", "ps", *options, "--format", "{{.Names}}", *filters]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    return sorted(found.stdout.split())


def _install() -> None:
    missing = [
        package
        for package, program in (("docker.io", "dockerd"), ("mmdebstrap", "mmdebstrap"))
        if shutil.which(program) is None
    ]
    if not missing or answers():
        return
    if os.geteuid() != 0:
        raise OSError(f"apt-get install {' '.join(missing)} needs root")
    env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-y", "-qq", *missing]):
        subprocess.run(["apt-get", *command], check=True, capture_output=True, env=env, timeout=300)


def answers() -> bool:
    """Whether a Docker daemon runs on this machine."""
    if shutil.which("docker") is None:
        return False
    done = subprocess.run(["docker", "version"], capture_output=True)
    return done.returncode == 0


def _start() -> None:
    """Every container is on no network, so the daemon needs no bridge and no iptables."""
    if answers():
        return
    if not os.path.ismount("/sys/fs/cgroup") and shutil.which("cgroupfs-mount"):
        subprocess.run(["cgroupfs-mount"], check=True, capture_output=True)
    options = ["--bridge=none", "--iptables=false", "--pidfile", str(PIDFILE)]
    daemon = subprocess.Popen(
        ["dockerd", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    atexit.register(_stop, daemon)
    deadline = time.monotonic() + READY_SECONDS
    while not answers():
        if daemon.poll() is not None or time.monotonic() > deadline:
            raise OSError("dockerd does not start")
        time.sleep(0.1)


def _stop(daemon: "subprocess.Popen[bytes]") -> None:
    """Containers first: else each costs the daemon ten seconds."""
    found = subprocess.run(
        ["docker", "ps", "-aq", "--filter", "label=kadath.app=kadath"],
        capture_output=True,
        text=True,
    )
    if names := found.stdout.split():
        subprocess.run(["docker", "rm", "-f", *names], capture_output=True)
    daemon.terminate()
    try:
        daemon.wait(timeout=20)
    except subprocess.TimeoutExpired:
        daemon.kill()
