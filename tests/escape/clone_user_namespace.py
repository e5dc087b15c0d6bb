"""Make a user namespace through clone.

Held by: seccomp
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBER = {"x86_64": 56, "aarch64": 220}[os.uname().machine]

if LIBC.syscall(NUMBER, 0x10000000 | 17, 0, 0, 0, 0) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED: a user namespace")
