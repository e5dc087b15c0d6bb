"""Started once an attempt by the kernel: `outer.py CONTROL_FD LABEL`, the request on stdin.

This file is never cached as bytecode, so it holds nothing but the way to what is.
"""

import sys

sys.path.append(__file__.rpartition("/")[0])

from trusted.monitor import main  # type: ignore[import-not-found]

main()
