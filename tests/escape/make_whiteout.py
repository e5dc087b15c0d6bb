"""Make the device that an overlay takes for a deletion.

Held by: seccomp
"""

import os

os.mknod("/state/gone", 0o20600, os.makedev(0, 0))
print("ESCAPED: a character device was made")
