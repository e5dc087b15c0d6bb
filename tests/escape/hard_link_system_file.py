"""Leave a hard link to a file of the system.

Held by: other file systems
"""

import os

os.link("/usr/bin/python3", "/state/python3")
print("ESCAPED: a hard link to a system file")
