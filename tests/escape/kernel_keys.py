"""Read the keyrings of the kernel.

Held by: seccomp
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBER = {"x86_64": 250, "aarch64": 219}[os.uname().machine]

if LIBC.syscall(NUMBER, 0, -3, 1, 0, 0) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED: a keyring")
