"""Trace the trusted process 1 of its sandbox.

Held by: seccomp, no capability
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)

if LIBC.ptrace(16, 1, 0, 0) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED: process 1 is traced")
