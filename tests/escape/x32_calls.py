"""Make system calls by their second numbers.

Held by: seccomp
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)

if os.uname().machine != "x86_64":
    raise OSError(38, "this machine has no second numbers")
if LIBC.syscall(0x40000000 + 165, b"none", b"/tmp", b"tmpfs", 0, 0) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED: mounted")
