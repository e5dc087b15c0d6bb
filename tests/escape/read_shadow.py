"""Read the machine's passwords.

Held by: an empty root, no privilege
Control: plain
"""

print("ESCAPED:", open("/etc/shadow").read(20))
