"""Take the processor from everybody else.

Held by: no capability
"""

import os

os.setpriority(os.PRIO_PROCESS, 0, -20)
print("ESCAPED: priority -20")
