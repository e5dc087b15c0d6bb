"""Entry of the genome: `/usr/bin/python3 /genome/organism.py`; the rest is in modules."""

import sys

# First, before anything else can fork or fail: the token leaves the environment.
from kadath_runtime.secret import take_token

if __name__ == "__main__":
    token = take_token()
    from kadath_runtime.loop import main

    sys.exit(main(token))
