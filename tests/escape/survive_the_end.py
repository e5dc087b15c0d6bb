"""Leave a daemon that outlives the attempt.

Held by: the namespace ends with process 1
"""

import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv("/usr/bin/sleep", ["kadath-survivor", "600"])
    os._exit(0)
time.sleep(0.3)
print("held: a daemon was left, see whether the host has it")
