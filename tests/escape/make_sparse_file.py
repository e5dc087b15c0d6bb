"""Leave a file of a terabyte that is all hole.

Held by: a limit on file size
Limit: file size
"""

import os
import signal

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
os.truncate(os.open("/state/hole", os.O_CREAT | os.O_RDWR), 1 << 40)
print("unbounded: a terabyte")
