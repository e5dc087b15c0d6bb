"""What a container is made of: pure data for the daemon, from limits and places."""

from pathlib import Path
from typing import Any, NamedTuple

from schemas.values.runtime import Limits

IDENTITY = "65532:65532"
PILOT, RELAY = 1, 5  # processes that are not the organism's; a relay has threads
TARGETS = (
    "genome", "pyc", "layer", "program", "evidence", "elites", "input", "signals", "state-in",
)  # fmt: skip
TRUSTED = Path(__file__).parent.parent
APP = "kadath.app"
SCOPE = "kadath.scope"


class Kind(NamedTuple):
    """Containers of one kind are alike until their attempt arrives, so they can wait for it."""

    limits: Limits
    spare_mb: int = 0
    broker: bool = True
    writable: bool = True
    extra: tuple[tuple[str, str], ...] = ()


def container(image: str, kind: Kind, scope: str, places: "Places") -> dict[str, Any]:
    """The body of the create call: nothing is writable but what has a size."""
    return {
        "Image": image,
        "Cmd": ["/usr/bin/python3", "-I", "-S", "-B", "/kadath/pilot.py"],
        "User": IDENTITY,
        "WorkingDir": "/",
        "Hostname": "organism",
        "Tty": False,
        "Env": [],
        "StopTimeout": 1,
        "Labels": {APP: "kadath", SCOPE: scope},
        "HostConfig": _host(kind) | {"Mounts": mounts(kind, places), "Tmpfs": tmpfs(kind)},
    }


class Places(NamedTuple):
    """The folders of one slot on the host: `content` on disk, `doors` for sockets."""

    content: Path
    doors: Path


def _host(kind: Kind) -> dict[str, Any]:
    limits = kind.limits
    memory = (limits.memory_mb + kind.spare_mb) << 20
    bounded = (("fsize", limits.file_mb << 20), ("nofile", 1024), ("core", 0))
    return {
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges:true"],
        "PidsLimit": limits.pids + PILOT + (RELAY if kind.broker else 0),
        "Memory": memory,
        "MemorySwap": memory,
        "NanoCpus": int(limits.cpus * 1_000_000_000),
        "OomScoreAdj": 500,
        "Ulimits": [{"Name": name, "Soft": value, "Hard": value} for name, value in bounded],
        "ShmSize": limits.tmp_mb << 20,
        "NetworkMode": "none",
        "Dns": ["127.0.0.1"],
        "Init": False,
        "LogConfig": {"Type": "json-file", "Config": {"max-size": "1m", "max-file": "1"}},
        "RestartPolicy": {"Name": "no"},
    }


def mounts(kind: Kind, places: Places) -> list[dict[str, Any]]:
    """The slot's folders and the trusted code, all read-only."""
    found = [(places.content / name, f"/{name}") for name in TARGETS]
    found += [
        (TRUSTED / "docker" / "pilot.py", "/kadath/pilot.py"),
        (TRUSTED / "launcher" / "launcher.py", "/kadath/launcher.py"),
        (TRUSTED / "local" / "trusted", "/kadath/trusted"),
        (places.doors / "pilot", "/run/pilot"),
    ]
    if kind.broker:
        found.append((places.doors / "broker", "/run/broker"))
    found += [(Path(source), target) for source, target in kind.extra]
    return [_bind(source, target) for source, target in found]


def _bind(source: Path, target: str) -> dict[str, Any]:
    options = {"Propagation": "rprivate", "NonRecursive": True}
    return {
        "Type": "bind",
        "Source": str(source),
        "Target": target,
        "ReadOnly": True,
        "BindOptions": options,
    }


def tmpfs(kind: Kind) -> dict[str, str]:
    limits = kind.limits
    common = "rw,noexec,nosuid,nodev"
    found = {"/tmp": f"{common},size={limits.tmp_mb}m,nr_inodes={limits.state_inodes},mode=1777"}
    if kind.writable:
        size, inodes = limits.state_mb + kind.spare_mb, limits.state_inodes + kind.spare_mb * 256
        owner = "uid=65532,gid=65532,mode=0700"
        found["/state"] = f"{common},size={size}m,nr_inodes={inodes + 8},{owner}"
    return found
