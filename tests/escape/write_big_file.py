"""Write one file over the limit.

Held by: a limit on file size
Limit: file size
"""

import signal

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open("/dev/shm/big", "wb", buffering=0) as file:
    file.truncate(32 << 20)
print("unbounded: 32 MiB in one file")
