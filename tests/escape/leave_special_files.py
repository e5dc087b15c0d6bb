"""Leave a FIFO and sockets that block who opens them.

Held by: a freezer that opens no special file
"""

import os
import socket

os.mkfifo("/state/fifo")
socket.socket(socket.AF_UNIX).bind("/state/socket")
print("held: a FIFO and a socket were left, see what was rejected")
