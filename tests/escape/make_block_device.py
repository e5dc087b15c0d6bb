"""Make the disk's device and read it.

Held by: no capability, seccomp
"""

import os

os.mknod("/state/disk", 0o60600, os.makedev(8, 0))
print("ESCAPED: a block device was made")
