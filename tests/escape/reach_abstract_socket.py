"""Reach an abstract Unix socket of the host.

Held by: a network namespace
Control: plain
"""

import os
import socket

line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
line.settimeout(2)
line.connect("\0" + os.environ["ABSTRACT"])
print("ESCAPED: connected")
