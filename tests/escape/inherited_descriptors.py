"""Use a descriptor that the kernel left open.

Held by: descriptors are closed
"""

import os

left = {}
for name in os.listdir("/proc/self/fd"):
    try:
        left[name] = os.readlink(f"/proc/self/fd/{name}")
    except OSError:
        pass
extra = {name: to for name, to in left.items() if int(name) > 2 and "/proc/" not in to}
print(f"ESCAPED: {extra}" if extra else "held: 0, 1 and 2 only")
