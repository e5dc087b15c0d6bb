"""Make a user namespace through clone3, whose flags no filter sees.

Held by: seccomp: clone3 does not exist
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBER = {"x86_64": 435, "aarch64": 435}[os.uname().machine]

if LIBC.syscall(NUMBER, (ctypes.c_uint64 * 8)(0x10000000, 0, 0, 0, 17, 0, 0, 0), 64) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED: a user namespace")
