"""The seccomp filter of a sandbox, assembled by hand: no library has to be installed for it.

Everything is allowed but what widens the kernel's surface or leaves the namespaces.
"""

import platform
import struct
from typing import NamedTuple

LOAD, AND, JUMP_EQUAL, JUMP_ABOVE, JUMP_SET, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97
NUMBER_AT, ARCH_AT, ARGS_AT = 0, 4, 16
NEW_NAMESPACES = 0x7E020000
UNIX, INET, INET6, RAW = 1, 2, 10, 3
CHARACTER, BLOCK, FORMAT = 0x2000, 0x6000, 0xF000
TIOCSTI, TIOCLINUX = 0x5412, 0x541C


class Machine(NamedTuple):
    """A machine's audit number, its syscall numbers, and the mask of its second ABI, if any."""

    audit: int
    numbers: dict[str, int]
    foreign: int | None


# Shared by both machines: everything since Linux 5.1 has one number everywhere.
RECENT = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "clone3": 435, "pidfd_getfd": 438, "process_madvise": 440, "mount_setattr": 442,
    "quotactl_fd": 443, "memfd_secret": 447, "open_tree_attr": 467,
}  # fmt: skip

X86_64 = RECENT | {
    "ioctl": 16, "socket": 41, "socketpair": 53, "clone": 56, "ptrace": 101, "syslog": 103,
    "mknod": 133, "personality": 135, "pivot_root": 155, "adjtimex": 159, "chroot": 161,
    "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167,
    "swapoff": 168, "reboot": 169, "iopl": 172, "ioperm": 173, "init_module": 175,
    "delete_module": 176, "quotactl": 179, "lookup_dcookie": 212, "clock_settime": 227,
    "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250, "mknodat": 259,
    "unshare": 272, "perf_event_open": 298, "fanotify_init": 300, "name_to_handle_at": 303,
    "open_by_handle_at": 304, "clock_adjtime": 305, "setns": 308, "process_vm_readv": 310,
    "process_vm_writev": 311, "kcmp": 312, "finit_module": 313, "kexec_file_load": 320,
    "bpf": 321, "userfaultfd": 323,
}  # fmt: skip

AARCH64 = RECENT | {
    "lookup_dcookie": 18, "ioctl": 29, "mknodat": 33, "umount2": 39, "mount": 40,
    "pivot_root": 41, "chroot": 51, "quotactl": 60, "acct": 89, "personality": 92,
    "unshare": 97, "kexec_load": 104, "init_module": 105, "delete_module": 106,
    "clock_settime": 112, "syslog": 116, "ptrace": 117, "reboot": 142, "settimeofday": 170,
    "adjtimex": 171, "socket": 198, "socketpair": 199, "add_key": 217, "request_key": 218,
    "keyctl": 219, "clone": 220, "swapon": 224, "swapoff": 225, "perf_event_open": 241,
    "fanotify_init": 262, "name_to_handle_at": 264, "open_by_handle_at": 265,
    "clock_adjtime": 266, "setns": 268, "process_vm_readv": 270, "process_vm_writev": 271,
    "kcmp": 272, "finit_module": 273, "bpf": 280, "userfaultfd": 282, "kexec_file_load": 294,
}  # fmt: skip

MACHINES = {
    "x86_64": Machine(0xC000003E, X86_64, foreign=0x40000000),
    "aarch64": Machine(0xC00000B7, AARCH64, foreign=None),
}
CHECKED = {"ioctl", "socket", "socketpair", "clone", "clone3", "mknod", "mknodat", "personality"}


def supported(machine: str = platform.machine()) -> bool:
    """A machine whose syscall numbers are known; elsewhere nothing may run."""
    return machine in MACHINES


def program(machine: str = platform.machine()) -> bytes:
    """The filter as the bytes that `bwrap --seccomp` reads."""
    audit, numbers, foreign = MACHINES[machine]
    code = [_op(LOAD, ARCH_AT), _op(JUMP_EQUAL, audit, 1, 0), _op(RETURN, KILL)]
    code += [_op(LOAD, NUMBER_AT)]
    if foreign is not None:  # the x32 numbers would pass by every check below
        code += [_op(JUMP_ABOVE, foreign, 0, 1), _op(RETURN, ERRNO | ENOSYS)]
    for name in sorted(numbers.keys() - CHECKED):
        code += _when(numbers[name], [_op(RETURN, ERRNO | EPERM)])
    for name in sorted(numbers.keys() & CHECKED):
        code += _when(numbers[name], _checks(name))
    return b"".join([*code, _op(RETURN, ALLOW)])


def _op(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)


def _when(number: int, body: list[bytes]) -> list[bytes]:
    return [_op(JUMP_EQUAL, number, 0, len(body)), *body]


def _deny_if(jump: int, value: int, errno: int = EPERM) -> list[bytes]:
    return [_op(jump, value, 0, 1), _op(RETURN, ERRNO | errno)]


def _argument(index: int) -> bytes:
    return _op(LOAD, ARGS_AT + 8 * index)  # low half: both machines are little-endian


def _checks(name: str) -> list[bytes]:
    """Calls that are refused for some arguments only. Each ends in a return."""
    allow = _op(RETURN, ALLOW)
    match name:
        case "clone3":  # its flags lie in memory; glibc falls back to clone
            return [_op(RETURN, ERRNO | ENOSYS)]
        case "clone":
            return [_argument(0), *_deny_if(JUMP_SET, NEW_NAMESPACES), allow]
        case "ioctl":
            codes = [*_deny_if(JUMP_EQUAL, TIOCSTI), *_deny_if(JUMP_EQUAL, TIOCLINUX)]
            return [_argument(1), *codes, allow]
        case "personality":  # asking (0xffffffff) and the default are harmless
            refuse = _op(RETURN, ERRNO | EPERM)
            asked = [_op(JUMP_EQUAL, 0xFFFFFFFF, 2, 0), _op(JUMP_EQUAL, 0, 1, 0)]
            return [_argument(0), *asked, refuse, allow]
        case "mknod" | "mknodat":  # a character device 0:0 would look like an overlay's deletion
            kinds = [*_deny_if(JUMP_EQUAL, CHARACTER), *_deny_if(JUMP_EQUAL, BLOCK)]
            return [_argument(1 if name == "mknod" else 2), _op(AND, FORMAT), *kinds, allow]
        case _:
            return _socket_checks((UNIX,) if name == "socketpair" else (UNIX, INET, INET6))


def _socket_checks(families: tuple[int, ...]) -> list[bytes]:
    rest = len(families)
    known = [_op(JUMP_EQUAL, family, rest - index, 0) for index, family in enumerate(families)]
    kind = [_argument(1), _op(AND, 0xF), *_deny_if(JUMP_EQUAL, RAW), _op(RETURN, ALLOW)]
    return [_argument(0), *known, _op(RETURN, ERRNO | EAFNOSUPPORT), *kind]
