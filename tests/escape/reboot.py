"""Reboot the machine.

Held by: seccomp, no capability
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBER = {"x86_64": 169, "aarch64": 142}[os.uname().machine]

if LIBC.syscall(NUMBER, 0xFEE1DEAD, 672274793, 0x1234567, 0) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED: a reboot")
