"""Reach the hypervisor.

Held by: seccomp
"""

import socket

socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
print("ESCAPED: a vsock socket")
