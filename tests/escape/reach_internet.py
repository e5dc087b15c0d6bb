"""Reach an address outside.

Held by: a network namespace
Limit: network
"""

import socket

line = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
line.settimeout(2)
line.connect(("192.0.2.1", 443))
print("ESCAPED: connected")
