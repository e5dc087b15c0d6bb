"""Open files by handles, past every path.

Held by: no capability, seccomp
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBER = {"x86_64": 303, "aarch64": 264}[os.uname().machine]

if LIBC.syscall(NUMBER, -100, b"/usr", 0, 0, 0) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED: a handle was made")
