"""Kill every process there is.

Held by: a PID namespace
"""

import os

os.kill(-1, 9)
print("held: only its own processes can have died")
