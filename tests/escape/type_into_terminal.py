"""Type a command into the user's terminal.

Held by: seccomp, a session of its own
"""

import fcntl

fcntl.ioctl(0, 0x5412, b"x")
print("ESCAPED: typed")
