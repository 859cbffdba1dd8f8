"""swiglu against its formula, and older names of primitives against the newer ones."""

import numpy as np
import pytest

from dist_ms import Tensor, ops
from tests.gradcheck import check_gradient

X = np.random.default_rng(0).normal(size=(2, 4, 3))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("dim", [0, 1, -2])
def test_swiglu(dim, dtype):
    found = ops.swiglu(Tensor(X.astype(dtype)), dim).asnumpy()
    a, b = np.split(X.astype(dtype).astype("float64"), 2, dim)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, a / (1 + np.exp(-a)) * b, atol=4e-3 if dtype == "float16" else 1e-6)
    check_gradient(lambda x: ops.swiglu(x, dim), X)


def test_swiglu_of_nothing():
    assert ops.swiglu(Tensor(np.ones((0, 2), np.float32))).shape == (0, 1)
    assert ops.swiglu(Tensor(np.ones((2, 0), np.float32))).shape == (2, 0)


def test_swiglu_refuses():
    with pytest.raises(RuntimeError, match="For 'swiglu', the length"):
        ops.swiglu(Tensor(X))
    with pytest.raises(TypeError, match="For 'swiglu'"):
        ops.swiglu(Tensor([1, 2]))
    with pytest.raises(TypeError, match="For 'swiglu', 'input'"):
        ops.swiglu(X)
    with pytest.raises(ValueError, match="swiglu"):
        ops.swiglu(Tensor(X), 3)


def test_older_names():
    x, y = Tensor(X), Tensor(X + 1)
    pairs = [
        (ops.Gelu()(x), ops.gelu(x, approximate="tanh")),
        (ops.TensorAdd()(x, y), x + y),
        (ops.AccumulateNV2()((x, y, y)), x + y + y),
        (ops.soft_shrink(x, 0.3), ops.softshrink(x, 0.3)),
        (ops.Fills()(x, Tensor(2.0)), ops.full_like(x, 2.0)),
        (ops.Expand()(x, Tensor([5, -1, 4, 3])), ops.broadcast_to(x, (5, 2, 4, 3))),
    ]
    for found, want in pairs:
        np.testing.assert_allclose(found.asnumpy(), want.asnumpy(), atol=1e-12)
