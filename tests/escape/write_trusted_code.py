"""Change the launcher for the next organism.

Held by: a read-only mount
"""

import os

name = next(name for name in os.listdir("/kadath") if name.endswith(".py"))
open(f"/kadath/{name}", "a").write("# mine\n")
print("ESCAPED: trusted code was written")
