"""Read System V shared memory of the host.

Held by: an IPC namespace
Control: plain
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.shmat.restype = ctypes.c_void_p
where = LIBC.shmat(int(os.environ["SHM"]), None, 0o10000)
if where in (None, ctypes.c_void_p(-1).value):
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED:", ctypes.string_at(where, 6))
