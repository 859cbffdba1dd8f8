"""Two tensors, and a log of what hooks saw."""

import pytest

from dist_ms import Tensor
from tests.serial.autograd.hooks.hook_log import Log


@pytest.fixture
def x():
    return Tensor([1.0, 2.0])


@pytest.fixture
def y():
    return Tensor([3.0, 4.0])


@pytest.fixture
def log():
    return Log()
