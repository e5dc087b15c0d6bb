"""Reach the host's files through the root of process 1.

Held by: a PID namespace, no ptrace
"""

import os

print("ESCAPED:", open("/proc/1/root" + os.environ["CANARY"]).read())
