"""Leave a core file with the memory of a program.

Held by: no core files
"""

import os

os.abort()
