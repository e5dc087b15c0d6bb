"""Options and fixtures of every layer."""

import pytest

from tests.support import daemon


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fault-kills", type=int, default=3, help="kill -9 so often in one run")


@pytest.fixture(params=["local", "docker"])
def backend(request: pytest.FixtureRequest) -> str:
    """What attempts run on. Skips where a daemon is neither there nor to be had."""
    if request.param == "docker" and (reason := daemon.trouble()):
        pytest.skip(reason)
    return str(request.param)
