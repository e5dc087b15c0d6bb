"""Reach a cloud's metadata service.

Held by: a network namespace
Limit: network
"""

import socket

line = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
line.settimeout(2)
line.connect(("169.254.169.254", 80))
print("ESCAPED: connected")
