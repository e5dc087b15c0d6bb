"""Set the machine's clock.

Held by: seccomp, no capability
"""

import time

time.clock_settime(time.CLOCK_REALTIME, 0)
print("ESCAPED: the clock was set")
