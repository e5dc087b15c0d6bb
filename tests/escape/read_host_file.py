"""Read a file of the host that everybody may read.

Held by: an empty root
Control: plain
"""

import os

print("ESCAPED:", open(os.environ["CANARY"]).read())
