"""Swap a folder for a link while the freezer walks.

Held by: the freezer works after the last process ended
"""

import subprocess
import sys
import time

SWAP = """
import os
os.makedirs("/state/d", exist_ok=True)
open("/state/d/shadow", "w").write("bait")
while True:
    os.rename("/state/d", "/state/e"); os.symlink("/etc", "/state/d")
    os.unlink("/state/d"); os.rename("/state/e", "/state/d")
"""
subprocess.Popen([sys.executable, "-c", SWAP], start_new_session=True)
time.sleep(0.3)
print("held: a child goes on swapping when its parent ends")
