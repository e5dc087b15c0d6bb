"""Leave symbolic links to secrets for the freezer to follow.

Held by: a freezer that follows no link
"""

import os

for name, target in (("one", os.environ["CANARY"]), ("two", "/etc/shadow"), ("all", "/")):
    os.symlink(target, f"/state/{name}")
print("held: three links were left, see what was rejected")
