"""dist_ms.scipy.fft against values that MindSpore 2.10 gave on a CPU."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor
from dist_ms.scipy import fft
from tests.gradcheck import check_gradient

X = np.array([[1, 2, 4, 8], [3, -1, 0.5, 2]])
RECORDED = [
    ("dct", {}, [[7.5, -5.1142, 1.5, -0.5876], [2.25, 0.2474, 2.75, 1.2505]]),
    ("dct", {"n": 3}, [[4.0415, -2.1213, 0.4082], [1.4434, 1.7678, 2.2454]]),
    ("idct", {}, [[5.9713, -6.1851, 3.1851, -0.9713], [1.6379, -0.3272, 2.8272, 1.8621]]),
    ("idct", {"n": 3}, [[3.6246, -2.6886, 0.7961], [1.2291, 1.3238, 2.6433]]),
    ("dctn", {}, [[6.8943, -3.4413, 3.0052, 0.4687], [3.7123, -3.7912, -0.8839, -1.2998]]),
    ("dctn", {"s": (3,), "axes": (1,)}, [[4.0415, -2.1213, 0.4082], [1.4434, 1.7678, 2.2454]]),
    ("dctn", {"axes": (0,)}, [[2.8284, 0.7071, 3.182, 7.0711], [-1.4142, 2.1213, 2.4749, 4.2426]]),
]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize(("name", "options", "want"), RECORDED)
def test_values_are_mindspores(name, options, want, dtype):
    for norm in (None, "ortho"):
        found = getattr(fft, name)(Tensor(X.astype(dtype)), norm=norm, **options).asnumpy()
        assert found.dtype == ("float32" if dtype == "float16" else dtype)
        np.testing.assert_allclose(found, want, atol=1e-4)


def test_integers_and_the_way_back():
    x = Tensor(X.astype(np.int32))
    assert fft.dct(x).dtype == ms.float32
    np.testing.assert_allclose(
        fft.idctn(fft.dctn(Tensor(X), s=(3, 5))).asnumpy(), np.pad(X, ((0, 1), (0, 1))), atol=1e-12
    )


@pytest.mark.parametrize("name", fft.__all__)
def test_gradients(name):
    options = {"s": (3, 2)} if name.endswith("n") else {"n": 6, "axis": 0}
    check_gradient(lambda x: getattr(fft, name)(x, **options), Tensor(X))


@pytest.mark.parametrize(
    "options", [{"type": 3}, {"norm": "forward"}, {"norm": "no"}, {"n": 0}, {"n": -1}, {"axis": 5}, {"type": 2.0}]
)
def test_refused(options):
    for name in ("dct", "idct"):
        with pytest.raises((ValueError, TypeError), match=f"For '{name}'"):
            getattr(fft, name)(Tensor(X), **options)
    with pytest.raises(TypeError, match="For 'dct'"):
        fft.dct(X)
    with pytest.raises(TypeError, match="For 'dctn'"):
        fft.dctn(Tensor(X > 0))
    with pytest.raises(ValueError, match="For 'dctn'"):
        fft.dctn(Tensor(X), s=(1, 2), axes=(0,))
