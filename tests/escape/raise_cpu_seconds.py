"""Raise the limit on its CPU seconds.

Held by: a hard limit
Limit: CPU seconds a process
"""

import resource

_, most = resource.getrlimit(resource.RLIMIT_CPU)
assert 0 < most < 3600, most
try:
    resource.setrlimit(resource.RLIMIT_CPU, (most + 60, most + 60))
except ValueError as error:
    raise PermissionError(1, str(error)) from None
print("unbounded: the limit was raised")
