"""Mount a file system without a quota.

Held by: no capability, seccomp
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)

if LIBC.mount(b"none", b"/tmp", b"tmpfs", 0, None) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED: a file system was mounted")
