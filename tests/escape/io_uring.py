"""Make system calls past the filter.

Held by: seccomp
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBER = {"x86_64": 425, "aarch64": 425}[os.uname().machine]

if LIBC.syscall(NUMBER, 8, (ctypes.c_uint64 * 20)()) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED: an io_uring")
