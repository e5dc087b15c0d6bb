"""Rename the machine.

Held by: no capability
"""

import socket

socket.sethostname("mine")
print("ESCAPED: renamed")
