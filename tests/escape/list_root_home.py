"""List the home of root.

Held by: an empty root
Control: plain
"""

import os

print("ESCAPED:", os.listdir("/root"))
