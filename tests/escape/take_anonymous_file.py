"""Take memory in files without a name.

Held by: a limit on memory in total
Limit: memory in total
"""

import os

for _ in range(64):
    file = os.memfd_create("big")
    for _ in range(8):
        os.write(file, bytes(1 << 20))
print("unbounded: half a GiB in anonymous files")
