"""Hold the kernel in a page fault.

Held by: seccomp
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBER = {"x86_64": 323, "aarch64": 282}[os.uname().machine]

if LIBC.syscall(NUMBER, 0) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED: a userfaultfd")
