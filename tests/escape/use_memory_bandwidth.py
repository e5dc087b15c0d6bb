"""Slow others by moving memory.

Held by: nothing: preflight says so
Limit: disk and memory bandwidth
"""

import time

one, began, moved = bytearray(32 << 20), time.monotonic(), 0
while time.monotonic() < began + 0.5:
    bytes(one)
    moved += 64
print(f"unbounded: {moved * 2} MiB/s")
