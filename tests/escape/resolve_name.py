"""Carry data out through DNS.

Held by: a network namespace
Limit: network
"""

import socket

print("ESCAPED:", socket.getaddrinfo("canary.example.com", 80))
