"""The broker token: read once, then out of reach of everything the organism starts.

Model-written code runs as the same user, so the environment this process was started with must be
unreadable through /proc (not dumpable) and is overwritten as well.
"""

import ctypes
import os

NAME = "KADATH_TOKEN"
PR_SET_DUMPABLE = 4


def take_token() -> str:
    """The token of this attempt; afterwards only this process's heap holds it."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "this process cannot be made undumpable")
    token = os.environ.get(NAME, "")
    libc.getenv.restype = ctypes.c_void_p
    address = libc.getenv(NAME.encode())
    if address:
        ctypes.memset(address, ord("x"), len(token.encode()))
    os.environ.pop(NAME, None)
    return token
