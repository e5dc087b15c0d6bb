"""Fork without end.

Held by: a limit on processes
Limit: processes
"""

import os
import time

for _ in range(2000):
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
print("unbounded: 2,000 processes")
