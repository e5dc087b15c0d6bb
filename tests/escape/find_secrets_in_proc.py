"""Find the kernel's variables in the list of processes.

Held by: a PID namespace
Control: plain
"""

import os

found = []
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        found.append(open(f"/proc/{pid}/environ", "rb").read())
    except OSError:
        pass
seen = any(b"PLANTED=" in environ for environ in found)
print("ESCAPED: a secret" if seen else f"held: {len(found)} readable, no secret")
