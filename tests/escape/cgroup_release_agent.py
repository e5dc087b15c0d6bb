"""Name a program that the host runs when a cgroup empties.

Held by: no writable cgroup
"""

import os

places = [
    f"{folder}/release_agent"
    for folder, _, files in os.walk("/sys/fs/cgroup")
    if "release_agent" in files
]
for place in places or ["/sys/fs/cgroup/release_agent"]:
    open(place, "w").write("/tmp/x")
print("ESCAPED: a release agent was named")
