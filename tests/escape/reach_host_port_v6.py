"""Reach a port of the host's IPv6 loopback.

Held by: a network namespace
Limit: network
"""

import os
import socket

line = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
line.settimeout(2)
line.connect(("::1", int(os.environ["PORT"])))
print("ESCAPED: connected")
