"""Lift the limits of its own cgroup.

Held by: no writable cgroup
"""

import glob

names = ["memory.max", "memory.limit_in_bytes", "pids.max", "cpu.max", "cpu.cfs_quota_us"]
found = [path for name in names for path in glob.glob(f"/sys/fs/cgroup/**/{name}", recursive=True)]
for path in found or ["/sys/fs/cgroup/memory.max"]:
    open(path, "w").write("-1")
print("ESCAPED: limits were lifted")
