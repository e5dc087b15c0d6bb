"""Write output without end.

Held by: bounded pipes
Limit: log size
"""

import os

line = b"y" * 65536
for _ in range(1000):
    os.write(1, line)
    os.write(2, line)
os.write(1, b"end")
os.write(2, b"\nheld: see how much of 128 MiB was kept\n")
