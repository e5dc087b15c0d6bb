"""Load a program into the kernel.

Held by: seccomp, no capability
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBER = {"x86_64": 321, "aarch64": 280}[os.uname().machine]

if LIBC.syscall(NUMBER, 5, 0, 0) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED: bpf")
