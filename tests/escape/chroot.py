"""Change the root and climb out of it.

Held by: no capability, seccomp
"""

import os

os.mkdir("/state/cell")
os.chroot("/state/cell")
print("ESCAPED: chroot is allowed")
