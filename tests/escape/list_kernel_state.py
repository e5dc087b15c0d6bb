"""List the kernel's data and sockets.

Held by: an empty root
Control: plain
"""

import os

print("ESCAPED:", os.listdir(os.environ["KERNEL"]))
