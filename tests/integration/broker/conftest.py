import itertools
from collections.abc import Iterator

import pytest

from tests.integration.broker.stage import CAST, Stage
from tests.support.kernel import Kernel, kernel

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def broker_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with kernel(tmp_path_factory.mktemp("broker"), *CAST) as found:
        yield found


@pytest.fixture
def stage(broker_kernel: Kernel) -> Stage:
    return Stage(broker_kernel, f"r20260101-000000-{next(_numbers):06x}")
