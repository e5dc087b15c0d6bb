"""Name a program that the host runs at the next crash.

Held by: a read-only /proc/sys
"""

open("/proc/sys/kernel/core_pattern", "w").write("|/tmp/x")
print("ESCAPED: core_pattern was written")
