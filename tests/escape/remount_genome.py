"""Remount the genome writable.

Held by: no capability, seccomp
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)

if LIBC.mount(None, b"/genome", None, 32 | 4096, None) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED: the genome was remounted")
