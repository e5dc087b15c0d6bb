"""Take all memory with many small processes.

Held by: a limit on memory in total
Limit: memory in total
"""

import os
import time

for _ in range(16):
    if os.fork() == 0:
        held = bytearray(b"x") * (24 << 20)
        time.sleep(30)
ends = [os.waitstatus_to_exitcode(os.waitpid(-1, 0)[1])]
print(f"held: a child was ended with {ends[0]}" if ends[0] else "unbounded: 384 MiB were taken")
