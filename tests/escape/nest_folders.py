"""Leave folders 3,000 deep.

Held by: a freezer without recursion
"""

import os

depth = 0
try:
    while depth < 3000:
        os.mkdir("d")
        os.chdir("d")
        depth += 1
except OSError:
    pass
print(f"held: {depth} folders, one in the other")
