"""Read the machine's memory.

Held by: no such device, no privilege
"""

with open("/proc/kcore", "rb") as file:
    found = file.read(4)
print(f"ESCAPED: {found!r}" if found else "held: an empty file")
