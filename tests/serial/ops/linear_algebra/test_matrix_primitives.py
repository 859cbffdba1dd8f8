"""CholeskyInverse, NuclearNorm, FillDiagonal, ExtractVolumePatches, UniqueWithPad, RandpermV2."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops
from tests.gradcheck import check_gradient

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_inverse(upper):
    a = RNG.random((4, 4))
    a = a @ a.T + np.eye(4)
    factor = np.linalg.cholesky(a)
    found = ops.CholeskyInverse(upper)(Tensor(factor.T.copy() if upper else factor))
    np.testing.assert_allclose(found.asnumpy(), np.linalg.inv(a), rtol=1e-6)


@pytest.mark.parametrize("dim", [None, (0, 1), [2, 0], (-1, -2)])
@pytest.mark.parametrize("keepdim", [False, True])
def test_nuclear_norm(dim, keepdim):
    x = RNG.random((3, 4) if dim is None else (3, 4, 2))
    found = ops.NuclearNorm(dim, keepdim)(Tensor(x)).asnumpy()
    want = np.linalg.norm(x, "nuc", tuple(dim or (0, 1)), keepdim)
    assert found.shape == want.shape
    np.testing.assert_allclose(found, want, rtol=1e-6)
    check_gradient(ops.NuclearNorm(dim, keepdim), x, order=1)


def test_nuclear_norm_errors():
    with pytest.raises(ValueError, match="two dimensions"):
        ops.NuclearNorm([1])
    with pytest.raises(TypeError, match="'dim'"):
        ops.NuclearNorm(1)
    with pytest.raises(ValueError, match="None for 3"):
        ops.NuclearNorm()(Tensor(np.ones((2, 2, 2))))
    with pytest.raises(ValueError):
        ops.NuclearNorm([1, 1])(Tensor(np.ones((2, 2, 2))))
    with pytest.raises(TypeError):
        ops.NuclearNorm()(Tensor([[1, 2]]))


@pytest.mark.parametrize("shape", [(7, 3), (2, 4), (3, 3), (3, 3, 3), (1, 1), (0, 3)])
@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
def test_fill_diagonal(shape, wrap, dtype):
    x = (RNG.random(shape) * 50).astype(dtype)
    want = x.copy()
    if x.size:
        np.fill_diagonal(want, 9, wrap)
    t = Tensor(x.copy())
    found = ops.FillDiagonal(9.0, wrap)(t)
    assert np.array_equal(found.asnumpy(), want) and found.asnumpy().dtype == dtype
    assert np.array_equal(t.asnumpy(), x)


def test_fill_diagonal_gradient_and_errors():
    check_gradient(ops.FillDiagonal(2.0, True), RNG.random((7, 3)))
    with pytest.raises(TypeError, match="'fill_value' must be a float"):
        ops.FillDiagonal(2)
    for shape in ((3,), (2, 3, 2)):
        with pytest.raises(ValueError, match="'input_x' must be a matrix"):
            ops.FillDiagonal(2.0)(Tensor(np.ones(shape)))


def patches(x, size, strides, padding):
    """The windows, one at a time."""
    lengths = x.shape[2:]
    if padding == "SAME":
        counts = [-(-n // s) for n, s in zip(lengths, strides)]
        wider = [max((c - 1) * s + k - n, 0) for c, s, k, n in zip(counts, strides, size, lengths)]
        x = np.pad(x, [(0, 0), (0, 0), *[(w // 2, w - w // 2) for w in wider]])
    else:
        counts = [(n - k) // s + 1 for n, s, k in zip(lengths, strides, size)]
    out = np.zeros((x.shape[0], np.prod(size) * x.shape[1], *counts), x.dtype)
    for i in np.ndindex(*counts):
        cut = tuple([slice(j * s, j * s + k) for j, s, k in zip(i, strides, size)])
        window = x[(slice(None), slice(None), *cut)]
        out[(slice(None), slice(None), *i)] = np.moveaxis(window, 1, -1).reshape(x.shape[0], -1)
    return out


@pytest.mark.parametrize("padding", ["VALID", "SAME", "same"])
@pytest.mark.parametrize("size, strides", [((2, 2, 2), (1, 1, 1)), ((1, 2, 3), (2, 1, 2)), ((3, 1, 2), (2, 3, 1))])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_volume_patches(padding, size, strides, dtype):
    x = (RNG.random((2, 3, 4, 3, 5)) * 90).astype(dtype)
    found = ops.ExtractVolumePatches((1, 1, *size), (1, 1, *strides), padding)(Tensor(x)).asnumpy()
    assert np.array_equal(found, patches(x, size, strides, padding.upper())) and found.dtype == dtype


def test_volume_patches_gradient_and_errors():
    check_gradient(ops.ExtractVolumePatches(2, (1, 1, 2, 1, 1), "SAME"), RNG.random((1, 2, 3, 3, 2)))
    with pytest.raises(ValueError, match="'kernel_size' must be"):
        ops.ExtractVolumePatches((1, 2, 2, 2, 2), 1, "VALID")
    with pytest.raises(TypeError, match="'strides' must be"):
        ops.ExtractVolumePatches(2, 1.0, "VALID")
    with pytest.raises(ValueError, match="'padding' must be 'VALID' or 'SAME'"):
        ops.ExtractVolumePatches(2, 1, "full")
    with pytest.raises(ValueError, match=r"at most \(1, 2, 2\)"):
        ops.ExtractVolumePatches(2, 1, "VALID")(Tensor(np.ones((1, 1, 1, 2, 2))))


def test_unique_with_pad():
    values, places = ops.UniqueWithPad()(Tensor([3, 1, 1, 2], ms.int32), 7)
    assert values.asnumpy().tolist() == [3, 1, 2, 7] and places.asnumpy().tolist() == [0, 1, 1, 2]
    with pytest.raises(ValueError, match="one dimension"):
        ops.UniqueWithPad()(Tensor([[1]]), 0)


def test_randperm_draws_mindspores_order():
    assert ops.RandpermV2(2, 3)(Tensor([5])).asnumpy().tolist() == [3, 4, 0, 2, 1]
    assert ops.RandpermV2(dtype=ms.int32)(3).dtype == ms.int32


@pytest.mark.parametrize(
    "function",
    [
        ops.MatrixDeterminant(),
        ops.matrix_determinant,
        Tensor.matrix_determinant,
        lambda x: ops.LogMatrixDeterminant()(x)[0] * ops.exp(ops.LogMatrixDeterminant()(x)[1]),
        lambda x: ops.log_matrix_determinant(x)[0] * ops.exp(ops.log_matrix_determinant(x)[1]),
        lambda x: x.log_matrix_determinant()[0] * ops.exp(x.log_matrix_determinant()[1]),
    ],
)
def test_determinants(function):
    x = np.random.default_rng(0).standard_normal((5, 3, 3))
    np.testing.assert_allclose(function(Tensor(x)).asnumpy(), np.linalg.det(x), rtol=1e-12)


def test_trace():
    x = np.random.default_rng(0).standard_normal((4, 3))
    np.testing.assert_allclose(ops.Trace()(Tensor(x)).asnumpy(), np.trace(x), rtol=1e-14)
