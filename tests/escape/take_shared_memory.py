"""Take memory in files that lie in memory.

Held by: a limit on memory, on /dev/shm
Limit: tmp size
"""

import os

file = os.open("/dev/shm/big", os.O_RDWR | os.O_CREAT)
for _ in range(1024):
    os.write(file, bytes(1 << 20))
print("unbounded: a GiB in /dev/shm")
