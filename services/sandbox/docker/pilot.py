"""First process of a container: waits for its attempt, runs it, streams what is left, ends.

It is trusted and runs as the organism's own user. As process 1 nothing inside can kill it; not
dumpable, its memory and descriptors are closed to the organism, whose filter refuses ptrace too.
Debian's Python, standard library only: `/usr/bin/python3 -I -S /kadath/pilot.py`.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import socket
import sys
import time
from signal import SIGKILL
from typing import Any

sys.path.append("/kadath")

from trusted import freeze, wire  # type: ignore[import-not-found]
from trusted.copying import copy_tree  # type: ignore[import-not-found]
from trusted.drain import Drain, printable  # type: ignore[import-not-found]
from trusted.space import Space  # type: ignore[import-not-found]

DOOR = "/run/pilot/pilot.sock"
DUMPABLE, NO_NEW_PRIVILEGES, SECCOMP, FILTER = 4, 38, 22, 2
OPEN_FILES = 1024
END, LAST = b"\0\0\0\0", b"\xff\xff\xff\xff"
DEADLINE = b"d"
AFTERMATH_SECONDS = 2.0


class Stream:
    """Frozen contents on their way to the kernel, which hashes them itself.

    Frames: a length of four bytes, then as many bytes; a length of zero ends a file, one of all
    ones ends all of them.
    """

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._known: dict[int, tuple[int, str]] = {}

    def take(self, path: str, status: os.stat_result) -> tuple[int, str]:
        """Size and hash of a regular file that has been sent."""
        import hashlib

        if status.st_nlink > 1 and status.st_ino in self._known:
            return self._known[status.st_ino]
        source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY)
        hasher, size = hashlib.sha256(), 0
        try:
            while chunk := os.read(source, 1 << 20):
                hasher.update(chunk)
                size += len(chunk)
                self._line.sendall(len(chunk).to_bytes(4, "big") + chunk)
        finally:
            os.close(source)
            self._line.sendall(END)
        self._known[status.st_ino] = size, hasher.hexdigest()
        return self._known[status.st_ino]

    def close(self) -> None:
        self._line.sendall(LAST)


class Room(Space):
    """The container's own file systems."""

    def is_full(self) -> bool:
        stat = os.statvfs("/state")
        return bool(stat.f_bavail * stat.f_frsize < 1 << 16 or stat.f_ffree < 2)


def main() -> None:
    """Ready as soon as the door is open; the request says the rest."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(DUMPABLE, 0, 0, 0, 0)
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    line.connect(DOOR)
    line.sendall(b"ready\n")
    request, blobs = receive(line)
    if not request:
        return
    room = prepare(request)
    stdout = Drain(int(request["stdout_limit"]), tail=False)
    stderr = Drain(int(request["limits"]["log_kb"]) << 10, tail=True)
    began = time.monotonic()
    try:
        pid = start(request, blobs, stdout, stderr, libc)
    except OSError as error:
        fail(line, str(error))
        return
    reason, code = watch(pid, line, stdout, stderr)
    sweep(stdout, stderr)
    open_up("/state")
    report = {
        "reason": reason,
        "exit_code": code if reason == "exit" else None,
        "wall_seconds": time.monotonic() - began,
        "cpu_seconds": sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]),
        "stdout_truncated": stdout.truncated(),
        "full": request["writable"] and room.is_full(),
        "frozen": None,
    }
    if request["writable"]:
        report["frozen"] = freeze.freeze(room, request["limits"], Stream(line))
    else:
        line.sendall(LAST)
    ends = [("stdout", stdout.content()), ("log", printable(stderr.content()))]
    for part in wire.pack(report, ends):
        line.sendall(part)


def fail(line: socket.socket, detail: str) -> None:
    """Report a start that did not come about: not the organism's doing."""
    report = {"reason": "start_failed", "exit_code": None, "detail": detail, "frozen": None}
    line.sendall(LAST + b"".join(wire.pack(report, [])))


def open_up(root: str) -> None:
    """Give back to their owner the rights that an organism took from its own files."""
    waiting = [(root, 0)]
    while waiting:
        folder, depth = waiting.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                if status.st_mode & 0o700 != 0o700:
                    os.chmod(entry.path, 0o700)
                if depth < freeze.DEPTH:
                    waiting.append((entry.path, depth + 1))
            elif entry.is_file(follow_symlinks=False) and not status.st_mode & 0o400:
                os.chmod(entry.path, status.st_mode & 0o777 | 0o400)


def receive(line: socket.socket) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The request; an empty one when the kernel went away."""
    text = bytearray()
    while not text.endswith(b"\n"):
        byte = line.recv(1)
        if not byte:
            return {}, {}
        text += byte
    header = wire.decode(text.decode())
    blobs = {name: exactly(line, size) for name, size in header.pop("blobs")}
    return header, blobs


def exactly(line: socket.socket, size: int) -> bytes:
    chunks = bytearray()
    while len(chunks) < size:
        chunk = line.recv(min(size - len(chunks), 1 << 20))
        if not chunk:
            os._exit(1)
        chunks += chunk
    return bytes(chunks)


def prepare(request: dict[str, Any]) -> Room:
    """The inherited state as a copy, which knows what of it was changed."""
    inherited = "/state-in" if request["inherits"] else None
    baseline = copy_tree(inherited, "/state") if inherited else None
    return Room("", "/state", "/state", inherited, baseline)


def start(
    request: dict[str, Any], blobs: dict[str, bytes], stdout: Drain, stderr: Drain, libc: Any
) -> int:
    """The organism's launcher behind our own filter, with nothing of ours open.

    Raises `OSError` when the launcher cannot be reached.
    """
    reading, writing = os.pipe()
    said, saying = os.pipe()
    pid = os.fork()
    if pid:
        os.close(reading)
        os.close(saying)
        stdout.start()
        stderr.start()
        if trouble := os.read(said, 4096):
            raise OSError(trouble.decode("utf-8", "replace"))
        wire.write_all(writing, (blobs["environ"],))
        os.close(writing)
        return pid
    try:
        os.setsid()
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.dup2(stdout.write, 1)
        os.dup2(stderr.write, 2)
        # Before the pilot: whoever takes too much memory shall be the one that dies of it.
        libc.prctl(DUMPABLE, 1, 0, 0, 0)
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
        os.set_inheritable(reading, True)  # all others are closed by the exec
        os.chdir(request["cwd"])
        confine(libc, blobs["seccomp"])
        os.execve(request["python"], command(request, reading), {})
    except BaseException as error:  # noqa: BLE001 (a fork must not go on)
        os.write(saying, f"{error}"[:4000].encode())
    os._exit(126)


def command(request: dict[str, Any], environ: int) -> list[str]:
    """Processes are counted by the container, not by user: that would be all containers' sum."""
    processes = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    limits = (processes, int(request["limits"]["file_mb"]) << 20, OPEN_FILES)
    numbers = (*limits, int(request["cpu_seconds"]))
    args = [request["python"], "-I", "-S", "/kadath/launcher.py", str(environ)]
    return [*args, str(int(request["relay"])), *map(str, numbers), "--", *request["argv"]]


def confine(libc: Any, program: bytes) -> None:
    """A second filter upon Docker's: what it leaves open is closed here."""

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    buffer = ctypes.create_string_buffer(program, len(program))
    found = Program(len(program) // 8, ctypes.addressof(buffer))
    for arguments in ((NO_NEW_PRIVILEGES, 1), (SECCOMP, FILTER, ctypes.byref(found))):
        if libc.prctl(*arguments, *(0,) * (5 - len(arguments))) != 0:
            raise OSError(ctypes.get_errno(), "no filter, no start")


def watch(pid: int, line: socket.socket, stdout: Drain, stderr: Drain) -> tuple[str, int | None]:
    """Until the organism's first process ends, or the kernel calls time or goes away."""
    end = os.pidfd_open(pid)
    poller = select.poll()
    for fd in (end, line.fileno(), stdout.read, stderr.read):
        poller.register(fd, select.POLLIN)
    while True:
        ready = {fd for fd, _ in poller.poll()}
        for drain in (stdout, stderr):
            if drain.read in ready:
                drain.take()
                if drain.ended:
                    poller.unregister(drain.read)
        if end in ready:
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            return "exit", code if code >= 0 else 128 - code
        if line.fileno() in ready:
            if line.recv(1) != DEADLINE:
                os._exit(1)  # nobody is left to report to; the container ends with us
            return "deadline", None


def sweep(stdout: Drain, stderr: Drain) -> None:
    """Nothing may live on: kill all others, reap them, take their last words."""
    until = time.monotonic() + AFTERMATH_SECONDS
    while time.monotonic() < until:
        try:
            os.kill(-1, SIGKILL)
            os.waitpid(-1, 0)
        except (ProcessLookupError, ChildProcessError):
            break
    for drain in (stdout, stderr):
        while not drain.ended and time.monotonic() < until:
            select.select([drain.read], [], [], 0.05)
            drain.take()


if __name__ == "__main__":
    main()
