"""The few system calls that Python 3.11 does not offer: namespaces, mounts, prctl."""

import ctypes
import os

NEW_USER, NEW_MOUNT = 0x10000000, 0x00020000
NOSUID, NODEV, NOEXEC = 2, 4, 8
RECURSIVE, PRIVATE = 0x4000, 1 << 18
DEATH_SIGNAL, DUMPABLE, SUBREAPER = 1, 4, 36

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def unshare(flags: int) -> None:
    _check(_libc.unshare(flags), "unshare")


def mount(kind: str, source: str, target: str, flags: int, options: str = "") -> None:
    texts = (os.fsencode(text) for text in (source, target, kind))
    source_, target_, kind_ = texts
    flags_ = ctypes.c_ulong(flags)
    result = _libc.mount(source_, target_, kind_, flags_, os.fsencode(options) or None)
    _check(result, f"mount {kind or target}")


def die_with_parent(parent: int, signal: int) -> None:
    """Ask for a signal when the parent ends; end at once where it has ended already."""
    _check(_libc.prctl(DEATH_SIGNAL, signal, 0, 0, 0), "prctl")
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends."""
    _check(_libc.prctl(SUBREAPER, 1, 0, 0, 0), "prctl")


def stay_dumpable() -> None:
    """After a change of user the files in /proc/self belong to root otherwise."""
    _check(_libc.prctl(DUMPABLE, 1, 0, 0, 0), "prctl")
