"""Fill the memory through /tmp.

Held by: a sized file system
Limit: tmp size
"""

import os

for number in range(256):
    with open(f"/tmp/{number}", "wb", buffering=0) as file:
        file.write(os.urandom(1 << 20))
print("unbounded: 256 MiB were written")
