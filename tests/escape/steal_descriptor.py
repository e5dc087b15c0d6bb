"""Take a descriptor out of process 1.

Held by: seccomp
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBER = {"x86_64": 438, "aarch64": 438}[os.uname().machine]

if LIBC.syscall(NUMBER, 1, 0, 0) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED: a descriptor was taken")
