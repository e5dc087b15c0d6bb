"""Open descriptors without end.

Held by: a limit on descriptors
"""

import os

for _ in range(100_000):
    os.open("/dev/null", os.O_RDONLY)
print("unbounded: 100,000 descriptors")
