"""GLU and swiglu against their formulas, and older names of primitives against the newer ones."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops
from dist_ms.common.tensor import wrap
from tests.gradcheck import check_gradient
from tests.serial.kernels.calls import channels_last

BF16 = ms.bfloat16.np
X = np.random.default_rng(0).normal(size=(2, 4, 3))


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda x: channels_last(x)[:, :, ::-1]])
@pytest.mark.parametrize("dtype", [BF16, "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("shape, axis", [((2, 4, 3), 0), ((2, 4, 3), 1), ((2, 4, 6), -1), ((6, 0, 3), 0), ((8,), 0)])
def test_glu(shape, axis, dtype, layout):
    if len(shape) < 3 and layout not in (np.ascontiguousarray, np.asfortranarray):
        return
    rng = np.random.default_rng(3)
    x, dy = (
        layout(
            (rng.normal(size=s) + 1j * rng.normal(size=s) if dtype == "complex64" else rng.normal(size=s)).astype(dtype)
        )
        for s in (shape, np.split(np.empty(shape), 2, axis)[0].shape)
    )
    a, b = (part.astype(complex if dtype == "complex64" else float) for part in np.split(x, 2, axis))
    share = 1 / (1 + np.exp(-b))
    tolerance = {2: 1e-2, 4: 1e-6, 8: 1e-6}[x.dtype.itemsize]
    found, back = ms.vjp(lambda t: ops.glu(t, axis), wrap(x))
    (gradient,) = back(wrap(dy))
    assert found.dtype == gradient.dtype == wrap(x).dtype and gradient.shape == shape
    np.testing.assert_allclose(found._data.astype(b.dtype), a * share, rtol=tolerance, atol=tolerance)
    share = share.conj()
    wanted = np.concatenate([dy * share, dy * a.conj() * share * (1 - share)], axis)
    np.testing.assert_allclose(gradient._data.astype(b.dtype), wanted, rtol=tolerance, atol=2 * tolerance)


@pytest.mark.parametrize("dim", [1, -2])
def test_gradients_of_glu(dim):
    check_gradient(lambda x: ops.glu(x, dim), X)


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
