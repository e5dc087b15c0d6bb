"""Watch the machine's counters.

Held by: seccomp
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBER = {"x86_64": 298, "aarch64": 241}[os.uname().machine]

if LIBC.syscall(NUMBER, 0, 0, -1, -1, 0) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED: perf events")
