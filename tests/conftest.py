"""Options and fixtures of every layer."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fault-kills", type=int, default=3, help="kill -9 so often in one run")
