"""Forge the kernel's signal to finish.

Held by: a read-only mount
"""

open("/signals/finalize", "w").close()
print("ESCAPED: the signal was written")
