"""Put an own socket where the broker's is.

Held by: a read-only mount
"""

import os
import socket

os.unlink("/run/broker/gateway.sock")
socket.socket(socket.AF_UNIX).bind("/run/broker/gateway.sock")
print("ESCAPED: the broker's door was replaced")
