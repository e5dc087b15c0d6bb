"""One event loop for tests that share a backend: its clients belong to the loop they began in."""

import asyncio

go = asyncio.Runner().run
