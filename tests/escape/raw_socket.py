"""Open a raw socket.

Held by: seccomp, no capability
"""

import socket

socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
print("ESCAPED: a raw socket")
