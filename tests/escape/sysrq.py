"""Reboot the machine through /proc.

Held by: a read-only /proc
"""

open("/proc/sysrq-trigger", "w").write("s")
print("ESCAPED: sysrq was written")
