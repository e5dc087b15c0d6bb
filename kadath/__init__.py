"""The user's program: a client of the services plus the one-machine runner."""

VERSION = "0.1.0"
