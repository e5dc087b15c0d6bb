"""Turns a `Spec` into the message for the outer process, and its report into an `Outcome`."""

import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from schemas.values.tree import Rejected, TreeFile
from services.sandbox.local.trusted import wire
from services.sandbox.port import Frozen, Outcome, Spec

NAME = re.compile(r"[A-Za-z0-9._-]{1,120}")
PIPE_BYTES = 65536
RESERVED = ("/state", "/proc", "/dev", "/tmp", "/signals", "/etc", "/usr", "/run/broker")
LAUNCHER = Path(__file__).parents[1] / "launcher" / "launcher.py"


class InvalidSpec(ValueError):
    """A spec that the backend cannot run as it stands: an error of the caller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What is the same for all attempts of a backend."""

    mountpoint: str
    bwrap: str
    python: str
    user: tuple[int, int]
    cgroups: Literal["none", "try", "must"]
    overlay: bool
    seccomp: bytes
    launcher: bytes


def encode(spec: Spec, machine: Machine) -> list[bytes]:
    """The message as parts to be written one after the other. Raises InvalidSpec."""
    check(spec)
    environ = b"\0".join(os.fsencode(f"{key}={value}") for key, value in spec.env.items())
    if len(environ) > PIPE_BYTES:
        raise InvalidSpec("the environment does not fit into 64 KiB")
    header = {
        "argv": list(spec.argv),
        "bwrap": machine.bwrap,
        "broker": _path(spec.broker),
        "cgroups": machine.cgroups,
        "cwd": spec.cwd,
        "deadline_at": spec.deadline_at,
        "finalize_at": spec.finalize_at,
        "limits": spec.limits.model_dump(),
        "mountpoint": machine.mountpoint,
        "mounts": [[str(mount.source), mount.target] for mount in spec.mounts],
        "overlay": machine.overlay,
        "python": machine.python,
        "spool": str(spec.spool),
        "state": _path(spec.state),
        "stdout_limit": spec.stdout_limit,
        "user": list(machine.user),
        "writable": spec.writable,
    }
    kernel = [("seccomp", machine.seccomp), ("kadath/launcher.py", machine.launcher)]
    inputs = [(f"input/{path}", content) for path, content in spec.input.items()]
    return wire.pack(header, [*kernel, ("environ", environ), *inputs])


def check(spec: Spec) -> None:
    """Refuse what would break a label, leave /input or cover the kernel's own folders."""
    for text in (spec.name, spec.run):
        if not NAME.fullmatch(text) or text in (".", ".."):
            raise InvalidSpec(f"not a usable name: {text!r}")
    if not spec.argv:
        raise InvalidSpec("nothing to run")
    for path in spec.input:
        if not path or path.startswith("/") or ".." in PurePosixPath(path).parts:
            raise InvalidSpec(f"input outside of /input: {path!r}")
    for mount in spec.mounts:
        _check_target(mount.target)
    if any("=" in key or "\0" in key + value for key, value in spec.env.items()):
        raise InvalidSpec("an environment variable that cannot be written as NAME=value")


def _check_target(target: str) -> None:
    path = PurePosixPath(target)
    covered = any(path == PurePosixPath(at) or PurePosixPath(at) in path.parents for at in RESERVED)
    if not path.is_absolute() or ".." in path.parts or path == PurePosixPath("/") or covered:
        raise InvalidSpec(f"not a place for a mount: {target!r}")


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path)


def decode(message: bytes) -> tuple[Outcome, str | None]:
    """The outcome and the version of cgroups that bounded it. Raises ValueError."""
    report, blobs = wire.unpack(message)
    outcome = Outcome(
        exit_code=report["exit_code"],
        reason=report["reason"],
        detail=report["detail"],
        wall_seconds=report.get("wall_seconds", 0.0),
        cpu_seconds=report.get("cpu_seconds", 0.0),
        stdout=blobs.get("stdout", b""),
        stdout_truncated=report.get("stdout_truncated", False),
        log=blobs.get("log", b""),
        frozen=_frozen(report.get("frozen")),
    )
    return outcome, report.get("cgroups")


def _frozen(report: dict[str, Any] | None) -> Frozen | None:
    if report is None:
        return None
    keys = ("path", "size", "sha256", "executable", "mark")
    files = (TreeFile(**dict(zip(keys, row, strict=True))) for row in report["files"])
    rejected = (Rejected(path=path, reason=reason) for path, reason in report["rejected"])
    return Frozen(tuple(files), tuple(report["deleted"]), tuple(rejected), report["omitted"])
