"""Exchange the root.

Held by: no capability, seccomp
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBER = {"x86_64": 155, "aarch64": 41}[os.uname().machine]

if LIBC.syscall(NUMBER, b"/state", b"/state") < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED: the root was exchanged")
