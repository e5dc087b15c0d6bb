"""Send a datagram without a connection.

Held by: a network namespace
Limit: network
"""

import socket

socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53))
print("ESCAPED: sent")
