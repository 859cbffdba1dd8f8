"""dist_ms.hal: one CPU, and the names of runtime."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import hal, runtime


def test_names_of_runtime_are_the_same():
    for name in hal.__all__:
        told_the_device = "memory" in name
        if hasattr(runtime, name) and not told_the_device:
            assert getattr(hal, name) is getattr(runtime, name)


def test_there_is_one_cpu():
    assert hal.device_count() == hal.device_count("CPU") == 1 and hal.get_device_name(0) == "CPU"
    assert [hal.is_available(t) for t in ("CPU", "GPU", "Ascend")] == [True, False, False]
    assert hal.is_initialized("CPU") is False and hal.get_arch_list() is None
    assert hal.get_device_capability(0) is None and hal.get_device_properties(0, "CPU") is None


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: hal.device_count("GPU"), ValueError),
        (lambda: hal.device_count("x"), ValueError),
        (lambda: hal.device_count(0), TypeError),
        (lambda: hal.is_available("x"), ValueError),
        (lambda: hal.is_initialized(3), TypeError),
        (lambda: hal.get_device_name(3), ValueError),
        (lambda: hal.get_device_name("CPU"), TypeError),
        (lambda: hal.get_arch_list("GPU"), ValueError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error, match="For '"):
        call()


@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
def test_qr(mode):
    a = np.random.default_rng(0).random((2, 4, 3))
    q, r = ms.mint.linalg.qr(ms.Tensor(a), mode)
    if mode == "r":
        assert q.shape == (0,) and np.allclose(np.abs(r.asnumpy()), np.abs(np.linalg.qr(a)[1]))
    else:
        assert np.allclose((q @ r).asnumpy(), a)
        assert q.shape == ((2, 4, 3) if mode == "reduced" else (2, 4, 4))
