"""Mount through the newer system calls.

Held by: seccomp
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBER = {"x86_64": 430, "aarch64": 430}[os.uname().machine]

if LIBC.syscall(NUMBER, b"tmpfs", 0) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED: a file system was opened")
