"""Reach a port of the host's loopback.

Held by: a network namespace
Limit: network
Control: plain
"""

import os
import socket

line = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
line.settimeout(2)
line.connect(("127.0.0.1", int(os.environ["PORT"])))
print("ESCAPED: connected")
