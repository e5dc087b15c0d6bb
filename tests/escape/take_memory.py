"""Take all memory.

Held by: a limit on memory
Limit: memory
"""

held = []
while len(held) < 1024:
    held.append(bytearray(b"x") * (1 << 20))
print("unbounded: a GiB was taken")
