"""Command the container engine.

Held by: an empty root
"""

import socket

for path in ("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock"):
    line = socket.socket(socket.AF_UNIX)
    try:
        line.connect(path)
        print("ESCAPED:", path)
    except OSError as error:
        last = error
raise last
