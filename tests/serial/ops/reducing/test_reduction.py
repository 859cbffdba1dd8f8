"""ReduceSum, ReduceMean, ReduceProd, ReduceAll, ReduceAny."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import FLOATS, INTEGERS, equal, same, tensor

rng = np.random.default_rng(0)
C = rng.standard_normal((2, 3, 4))
AXES = [None, (), 0, -1, (0, 2), [1, -1], (0, 1, 2)]


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values(axis, keep, dtype):
    c = C.astype(dtype)
    numpy_axis = None if axis in (None, ()) else tuple(axis) if isinstance(axis, list) else axis
    same(ops.sum(ms.Tensor(c), axis, keep), c.sum(numpy_axis, keepdims=keep), 1e-5)
    same(ops.mean(ms.Tensor(c), axis, keep), c.mean(numpy_axis, keepdims=keep), 1e-5)
    if axis is not None or not keep:
        same(ops.prod(ms.Tensor(c), axis, keep), c.prod(numpy_axis, keepdims=keep), 1e-5)
    same(ops.all(ms.Tensor(c > 0), axis, keep), (c > 0).all(numpy_axis, keepdims=keep))
    same(ops.any(ms.Tensor(c > 1), axis, keep), (c > 1).any(numpy_axis, keepdims=keep))
    equal(
        ops.count_nonzero(ms.Tensor(c > 0), () if axis is None else axis, keep),
        np.count_nonzero(c > 0, numpy_axis, keepdims=keep),
    )


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("shape", [(64, 70), (3, 50, 40), (6000, 1), (0, 5)])
def test_counts_of_many(dtype, shape):
    generator = np.random.default_rng(0)
    x = (generator.integers(0, 3, shape) * 100).astype(dtype)
    if dtype == "float32":
        x[:1] = np.nan
        x[1:2] = -0.0
    for array in (x, x.T, x[::2]):
        for axis in ((), 0, -1, (0, 1)):
            for keep in (False, True):
                found = ops.count_nonzero(ms.Tensor(array), axis, keep)
                assert found.dtype == ms.int32
                equal(found, np.count_nonzero(array, None if axis == () else axis, keepdims=keep))
                if dtype == "float16":
                    equal(ops.count_nonzero(ms.Tensor(array).astype(ms.bfloat16), axis, keep), found.asnumpy())


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_dtypes(dtype):
    x = np.array([[1, 2], [3, 5]], dtype)
    wide = dtype if dtype.startswith("float") else "int64"
    same(ops.sum(ms.Tensor(x), 0), x.sum(0, dtype=wide))
    same(ops.prod(ms.Tensor(x), 0), x.prod(0, dtype=wide))
    same(ops.ReduceSum()(ms.Tensor(x), 0), x.sum(0, dtype=dtype))
    same(ops.ReduceProd()(ms.Tensor(x), 0), x.prod(0, dtype=dtype))
    same(ops.ReduceMean()(ms.Tensor(x), 0), np.array([2, 3.5]).astype(dtype))
    assert ops.sum(ms.Tensor(x), dtype=ms.float64).dtype == ms.float64


def test_bools():
    same(ops.sum(tensor([True, True])), np.int64(2))
    same(ops.ReduceSum()(tensor([True, True])), np.bool_(True))
    with pytest.raises(RuntimeError, match="For 'ReduceMean', .* but got Bool"):
        ops.mean(tensor([True]))
    equal(ops.all(tensor([1.0, 0.0])), False)


def test_half_sums_do_not_stop_growing():
    """In float16 itself the sum of ones would stay at 2048, in bfloat16 at 256."""
    ones = ms.Tensor(np.ones((5000, 2), np.float32))
    equal(ops.sum(ones.half(), 0), [5000, 5000])
    equal(ops.sum(ones.bfloat16(), 0).float(), [4992, 4992])
    equal(ops.mean(ones.half()), 1)


def test_scalars_and_empty():
    assert ops.sum(ms.Tensor(3.0), 0).asnumpy() == 3
    assert ops.sum(ms.Tensor(3.0), -1, True).shape == ()
    assert ops.sum(tensor([])).asnumpy() == 0
    assert ops.prod(tensor(np.zeros((0, 2))), 0).asnumpy().tolist() == [1, 1]
    assert np.isnan(ops.mean(tensor([])).asnumpy())
    assert ops.all(tensor([], "bool")).asnumpy()


def test_primitives():
    c = ms.Tensor(C)
    equal(ops.ReduceSum(skip_mode=True)(c, ()), C)
    same(ops.ReduceSum()(c, ms.Tensor(1)), C.sum(1))
    same(ops.reduce_sum(c, (0, 1)), C.sum((0, 1)))
    assert repr(ops.ReduceSum(True)) == "Prim[ReduceSum]<keep_dims=True, skip_mode=False>"
    same(ops.ReduceMean(keep_dims=True)(x=c, axis=2), C.mean(2, keepdims=True))


@pytest.mark.parametrize(
    "axis, error, text",
    [
        (3, ValueError, r"must be in the range \[-3, 3\), but got 3"),
        (-4, ValueError, "but got -4"),
        (1.0, TypeError, "must be an int"),
        (("a",), TypeError, "must be an int"),
        (True, TypeError, "must be an int"),
    ],
)
def test_wrong_axes(axis, error, text):
    for fn in (ops.sum, ops.mean, ops.prod, ops.all, ops.any):
        with pytest.raises(error, match=text):
            fn(ms.Tensor(C) if fn in (ops.sum, ops.mean, ops.prod) else ms.Tensor(C > 0), axis)


@pytest.mark.parametrize("axis", [(0, 0), (0, -3)])
@pytest.mark.parametrize("name, error", [("sum", ValueError), *((n, RuntimeError) for n in ("mean", "prod", "all"))])
def test_an_axis_comes_once(axis, name, error):
    with pytest.raises(error, match="'axis' must name each dimension once"):
        getattr(ops, name)(ms.Tensor(C > 0 if name == "all" else C), axis)


def test_wrong_types():
    with pytest.raises(TypeError, match="'keepdim' must be a bool, but got int"):
        ops.sum(ms.Tensor(C), 0, 1)
    with pytest.raises(TypeError, match="For 'sum', 'input' must be a Tensor"):
        ops.sum([1])
    with pytest.raises(TypeError, match="keep_dims"):
        ops.ReduceSum(keep_dims="yes")


def test_methods_take_both_sets_of_names():
    c = ms.Tensor(C)
    for found in (c.sum(1, True), c.sum(axis=1, keepdims=True), c.sum(dim=1, keepdim=True)):
        same(found, C.sum(1, keepdims=True))
    for found in (c.mean(1, True), c.mean(axis=1, keep_dims=True), c.mean(dim=1, keepdim=True)):
        same(found, C.mean(1, keepdims=True))
    same(c.prod(dim=0), C.prod(0))
    same(c.sum(initial=2.0), C.sum() + 2)
    same(c.sum(0, ms.float32), C.astype("float32").sum(0), 1e-5)
    equal((c > 0).all(dim=1, keepdim=True), (C > 0).all(1, keepdims=True))
    equal((c > 1).any(axis=1), (C > 1).any(1))
    with pytest.raises(TypeError, match="'axis' and 'dim' mean the same"):
        c.sum(axis=1, dim=1)


def test_older_names():
    x = np.random.default_rng(0).standard_normal((3, 4))
    for function, of_numpy in ((ops.reduce_max, np.max), (ops.reduce_min, np.min), (ops.reduce_mean, np.mean)):
        for axis in (0, 1, (0, 1)):
            np.testing.assert_allclose(function(ms.Tensor(x), axis).asnumpy(), of_numpy(x, axis), rtol=1e-14)
