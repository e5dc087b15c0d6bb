"""Ignore every signal and never end.

Held by: the deadline
Limit: wall time
"""

import signal
import time

for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
time.sleep(3600)
print("unbounded: an hour")
