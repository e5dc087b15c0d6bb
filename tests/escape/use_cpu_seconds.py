"""Burn the CPU seconds of one process.

Held by: SIGKILL at the limit
Limit: CPU seconds a process
"""

import resource

resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
while True:
    pass
