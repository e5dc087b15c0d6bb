"""Load a module into the kernel.

Held by: seccomp, no capability
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBER = {"x86_64": 313, "aarch64": 273}[os.uname().machine]

if LIBC.syscall(NUMBER, 0, b"", 0) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED: a module")
