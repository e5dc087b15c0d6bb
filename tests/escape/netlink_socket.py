"""Change the network through netlink.

Held by: seccomp
"""

import socket

socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
print("ESCAPED: a netlink socket")
