"""Listen to every packet.

Held by: seccomp, no capability
"""

import socket

socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
print("ESCAPED: a packet socket")
