"""The outer user and mount namespace: sized file systems, and the overlay on the inherited state.

All of it vanishes with the last process in it; nothing has to be unmounted.
"""

from __future__ import annotations

import os

from . import kernel
from .copying import Baseline, copy_tree
from .wire import write_all

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` would take 6 ms to load
    from typing import Any

ORGANISM_ID = 65532
SLACK = 2 << 20
FLAGS = kernel.NOSUID | kernel.NODEV


class Space:
    """Where things are in the outer namespace. `baseline` stands for the lower layer of a copy."""

    def __init__(
        self,
        base: str,
        state: str | None = None,
        upper: str | None = None,
        lower: str | None = None,
        baseline: Baseline | None = None,
    ) -> None:
        self.base, self.state, self.upper = base, state, upper
        self.lower, self.baseline = lower, baseline

    def used_bytes(self) -> int:
        """What lies in memory as files; no process shows it as its own."""
        roots = [f"{self.base}/tmp", *([f"{self.base}/room"] if self.state else [])]
        stats = (os.statvfs(root) for root in roots)
        return sum((stat.f_blocks - stat.f_bfree) * stat.f_frsize for stat in stats)

    def is_full(self) -> bool:
        """No byte or no inode is left in the state."""
        if self.state is None:
            return False
        stat = os.statvfs(f"{self.base}/room")
        return stat.f_bavail * stat.f_frsize < 1 << 16 or stat.f_ffree < 2


def enter() -> None:
    """Become root of a user namespace of one's own, with private mounts."""
    uid, gid = os.geteuid(), os.getegid()
    kernel.unshare(kernel.NEW_USER | kernel.NEW_MOUNT)
    _write("/proc/self/setgroups", b"deny")
    _write("/proc/self/uid_map", b"0 %d 1" % uid)
    _write("/proc/self/gid_map", b"0 %d 1" % gid)
    kernel.mount("", "none", "/", kernel.RECURSIVE | kernel.PRIVATE)


def build(request: dict[str, Any], blobs: dict[str, bytes]) -> Space:
    """Mount everything that the sandbox will see as its own."""
    base, limits = request["mountpoint"], request["limits"]
    size = sum(map(len, blobs.values())) + SLACK
    kernel.mount("tmpfs", "kadath", base, FLAGS, f"size={size},nr_inodes=8192,mode=0755")
    for folder in ("input", "signals", "kadath", "etc", "etc/alternatives", "tmp", "room"):
        os.mkdir(f"{base}/{folder}", 0o755)
    _fill(base, blobs, request["mounts"])
    options = (
        f"size={int(limits['tmp_mb']) << 20},nr_inodes={int(limits['state_inodes'])},mode=0755"
    )
    kernel.mount("tmpfs", "tmp", f"{base}/tmp", FLAGS | kernel.NOEXEC, options)
    for folder in ("tmp", "shm"):
        os.mkdir(f"{base}/tmp/{folder}")
        os.chmod(f"{base}/tmp/{folder}", 0o1777)
    if not request["writable"]:
        return Space(base)
    return _state(base, limits, request["state"], request["overlay"])


def _fill(base: str, blobs: dict[str, bytes], mounts: list[list[str]]) -> None:
    for name, content in blobs.items():
        folder, _, path = name.partition("/")
        if folder in ("input", "kadath"):
            os.makedirs(os.path.dirname(f"{base}/{folder}/{path}"), exist_ok=True)
            _write(f"{base}/{folder}/{path}", content)
    for source, target in mounts:  # /input is read-only before bwrap could make this folder
        if target.startswith("/input/"):
            _mountpoint(source, base + target)
    passwd = (
        f"root:x:0:0:root:/root:/bin/sh\norganism:x:{ORGANISM_ID}:{ORGANISM_ID}::/tmp:/bin/sh\n"
    )
    _write(f"{base}/etc/passwd", passwd.encode())
    _write(f"{base}/etc/group", f"root:x:0:\norganism:x:{ORGANISM_ID}:\n".encode())
    _write(f"{base}/etc/hosts", b"127.0.0.1 localhost organism\n")


def _mountpoint(source: str, path: str) -> None:
    if os.path.isdir(source):
        os.makedirs(path, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        _write(path, b"")


def _state(base: str, limits: dict[str, Any], lower: str | None, overlay: bool) -> Space:
    room, upper = f"{base}/room", f"{base}/room/upper"
    spare = 0 if lower is None or overlay else _weight(lower)
    size = (int(limits["state_mb"]) << 20) + spare
    inodes = int(limits["state_inodes"]) + 8 + spare // 4096
    kernel.mount("tmpfs", "state", room, FLAGS, f"size={size},nr_inodes={inodes},mode=0700")
    os.mkdir(upper, 0o755)
    if lower is None:
        return Space(base, upper, upper)
    if not overlay:
        return Space(base, upper, upper, lower, copy_tree(lower, upper))
    if os.stat(lower).st_uid != 0:
        raise PermissionError(f"{lower} does not belong to the sandbox user")
    work, merged = f"{base}/room/work", f"{base}/room/merged"
    os.mkdir(work)
    os.mkdir(merged)
    layers = f"lowerdir={_escape(lower)},upperdir={upper},workdir={work},userxattr"
    kernel.mount("overlay", "state", merged, FLAGS, layers)
    return Space(base, merged, upper, lower)


def _weight(root: str) -> int:
    """The bytes of a tree, rounded up to pages, one page for each entry besides."""
    total = 0
    for folder, _, files in os.walk(root):
        sizes = (os.lstat(f"{folder}/{file}").st_size for file in files)
        total += 4096 + sum((size + 8191) & ~4095 for size in sizes)
    return total


def _escape(path: str) -> str:
    for special in "\\:,":
        path = path.replace(special, "\\" + special)
    return path


def _write(path: str, content: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
    try:
        write_all(fd, (content,))
    finally:
        os.close(fd)
