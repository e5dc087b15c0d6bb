"""Fill the disk through the state.

Held by: a quota
Limit: state size
"""

import os

for number in range(256):
    with open(f"/state/{number}", "wb", buffering=0) as file:
        file.write(os.urandom(1 << 20))
print("unbounded: 256 MiB were written")
