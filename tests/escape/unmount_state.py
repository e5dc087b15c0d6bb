"""Unmount the state to see what lies below.

Held by: no capability, seccomp
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)

if LIBC.umount2(b"/state", 2) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED: the state was unmounted")
