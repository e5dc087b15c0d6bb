"""Become root through a set-user-id program of its own.

Held by: no new privileges
"""

import os
import shutil
import subprocess

shutil.copy("/usr/bin/id", "/state/id")
os.chmod("/state/id", 0o6755)
answer = subprocess.run(["/state/id", "-u"], capture_output=True, text=True).stdout.strip()
print("ESCAPED: root" if answer == "0" else f"held: still user {answer}")
