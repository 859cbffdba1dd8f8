"""dist_ms.numpy.fft against NumPy's."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor

PLAIN = np.random.default_rng(0).normal(size=(3, 4, 6))
OF_NUMPY = [
    *("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "irfft2"),
    *("fftn", "ifftn", "rfftn", "irfftn"),
]


@pytest.mark.parametrize("norm", [None, "backward", "forward", "ortho"])
@pytest.mark.parametrize("name", OF_NUMPY)
def test_values_are_numpys(name, norm):
    function, want = getattr(ms.numpy.fft, name), getattr(np.fft, name)
    np.testing.assert_allclose(function(Tensor(PLAIN), norm=norm).asnumpy(), want(PLAIN, norm=norm), atol=1e-12)
    options = {"n": 5, "axis": 1} if name[-1] == "t" else {"s": (4, 3), "axes": (0, 2)}
    np.testing.assert_allclose(function(Tensor(PLAIN), **options).asnumpy(), want(PLAIN, **options), atol=1e-12)


@pytest.mark.parametrize("name", ["hfft2", "ihfft2", "hfftn", "ihfftn"])
def test_several_dimensions_of_mirrored_ones(name):
    function, same = getattr(ms.numpy.fft, name), getattr(ms.ops, name)
    np.testing.assert_array_equal(function(Tensor(PLAIN)).asnumpy(), same(Tensor(PLAIN)).asnumpy())


def test_shifts_and_frequencies():
    x = np.arange(10).reshape(2, 5)
    for name in ("fftshift", "ifftshift"):
        for axes in (None, 1, (0,)):
            found = getattr(ms.numpy.fft, name)(Tensor(x), axes=axes).asnumpy()
            np.testing.assert_array_equal(found, getattr(np.fft, name)(x, axes))
    for name in ("fftfreq", "rfftfreq"):
        np.testing.assert_allclose(
            getattr(ms.numpy.fft, name)(7, d=0.5).asnumpy(), getattr(np.fft, name)(7, 0.5), rtol=1e-6
        )
