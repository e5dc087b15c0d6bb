"""Climb out of the state with relative names.

Held by: a mount namespace
Control: plain
"""

import os

print("ESCAPED:", open("../" * 40 + os.environ["CANARY"]).read())
