"""`python -m kadath`."""

from kadath.cli.app import main

main()
