"""Ask for real-time scheduling.

Held by: no capability
"""

import os

os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
print("ESCAPED: real-time scheduling")
