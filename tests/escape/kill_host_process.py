"""Kill a process of the host.

Held by: a PID namespace
"""

import os

os.kill(int(os.environ["HOSTPID"]), 9)
print("ESCAPED: a process of the host was killed")
