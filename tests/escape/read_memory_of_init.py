"""Read the memory of process 1.

Held by: seccomp, no capability
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBER = {"x86_64": 310, "aarch64": 270}[os.uname().machine]

if LIBC.syscall(NUMBER, 1, 0, 0, 0, 0, 0) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED: its memory was read")
