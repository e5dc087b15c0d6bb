"""Burn every processor.

Held by: a limit on the share of the processor
Limit: cpus
"""

import os
import time

began = time.monotonic()
for _ in range(4):
    if os.fork() == 0:
        while time.monotonic() < began + 2:
            pass
        os._exit(0)
for _ in range(4):
    os.wait()
used, took = os.times(), time.monotonic() - began
share = (used.children_user + used.children_system) / took
print(f"{'held' if share < 0.75 else 'unbounded'}: {share:.2f} processors")
