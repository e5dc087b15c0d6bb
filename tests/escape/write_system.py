"""Put a program into the system's path.

Held by: a read-only mount
"""

open("/usr/bin/kadath-escape", "w").close()
print("ESCAPED: /usr/bin was written")
