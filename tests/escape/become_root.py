"""Take the identity of root.

Held by: no capability
"""

import os

os.setuid(0)
print("ESCAPED: user", os.getuid())
