"""Join the namespaces of process 1.

Held by: seccomp
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
for kind in ("mnt", "net", "pid"):
    if LIBC.setns(os.open(f"/proc/1/ns/{kind}", os.O_RDONLY), 0) == 0:
        print("ESCAPED: joined", kind)
raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
