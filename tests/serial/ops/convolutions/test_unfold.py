"""Windows as columns, and maxima put back."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms import nn, ops
from dist_ms.common.tensor import Tensor
from tests.gradcheck import check_gradient
from tests.precisions import normal, tensor

OPTIONS = [{}, {"dilation": 2}, {"padding": (1, 0), "stride": 2}, {"padding": 1, "stride": (1, 2)}]


@pytest.mark.parametrize("options", OPTIONS)
def test_unfold_and_fold(options):
    x = normal(2, 3, 5, 6)
    columns = ops.unfold(Tensor(x), (2, 3), **options).asnumpy()
    weight = normal(4, 3, 2, 3, seed=1)
    pads = options.get("padding", 0)
    wanted = ops.conv2d(
        Tensor(x),
        Tensor(weight),
        stride=options.get("stride", 1),
        pad_mode="pad",
        padding=pads,
        dilation=options.get("dilation", 1),
    ).asnumpy()
    np.testing.assert_allclose((weight.reshape(4, -1) @ columns).reshape(wanted.shape), wanted, atol=1e-12)
    other = normal(*columns.shape, seed=2)
    folded = ops.fold(Tensor(other), (5, 6), (2, 3), **options).asnumpy()
    assert (folded * x).sum() == pytest.approx((other * columns).sum())
    check_gradient(lambda x: ops.unfold(x, (2, 3), **options), x)
    check_gradient(lambda c: ops.fold(c, (5, 6), (2, 3), **options), other)


@pytest.mark.parametrize(
    "dtype, bound", [(np.float32, 2.0**-22), (ml_dtypes.bfloat16, 2.0**-8), (np.float16, 2.0**-10)]
)
@pytest.mark.parametrize("options", OPTIONS)
def test_fold_adds_in_float32(options, dtype, bound):
    shape = ops.unfold(Tensor(normal(2, 3, 15, 16)), (2, 3), **options).shape
    columns = normal(*shape, seed=2).astype(dtype)
    found = ops.fold(Tensor(columns), (15, 16), (2, 3), **options).asnumpy()
    wide = columns.astype(np.float64)
    wanted, sizes = (ops.fold(Tensor(c), (15, 16), (2, 3), **options).asnumpy() for c in (wide, np.abs(wide)))
    assert found.dtype == dtype
    assert (np.abs(found.astype(np.float64) - wanted) <= bound * np.abs(wanted) + 2.0**-21 * sizes).all()


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x: ops.unfold(x, 0), ValueError),
        (lambda x: ops.unfold(x, "a"), TypeError),
        (lambda x: ops.unfold(x, 4), ValueError),
        (lambda x: ops.unfold(x, 2, padding=(1, 0, 1, 1)), ValueError),
        (lambda x: ops.unfold(tensor(normal(3, 3)), 2), ValueError),
        (lambda x: ops.fold(tensor(normal(1, 8, 5)), (3, 3), 2), ValueError),
        (lambda x: ops.fold(tensor(normal(1, 7, 4)), (3, 3), 2), ValueError),
        (lambda x: ops.fold(tensor(normal(8, 4)), (3, 3), 2), ValueError),
        (lambda x: ops.fold(tensor(normal(1, 8, 4)), (3.0, 3), 2), TypeError),
    ],
)
def test_unfold_errors(call, error):
    with pytest.raises(error, match="fold'"):
        call(tensor(normal(1, 2, 3, 3)))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_unpool_undoes_pool(rank):
    x = np.random.default_rng(0).permutation(2 * 3 * 4**rank).reshape(2, 3, *(4,) * rank) / 10 + 1
    pool = (nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d)[rank - 1](2, 2, "pad", return_indices=True)
    unpool = (nn.MaxUnpool1d, nn.MaxUnpool2d, nn.MaxUnpool3d)[rank - 1](2)
    out, index = pool(Tensor(x))
    found = unpool(out, index).asnumpy()
    assert np.array_equal(found[found != 0], x[found != 0]) and (found != 0).sum() == out.asnumpy().size
    again, same = pool(Tensor(found))
    assert np.array_equal(again.asnumpy(), out.asnumpy()) and np.array_equal(same.asnumpy(), index.asnumpy())
    check_gradient(lambda y: unpool(y, index), out.asnumpy())
    assert np.array_equal(unpool(out[0], index[0]).asnumpy(), found[0])


def test_unpool_output_size():
    x, index = tensor([[[[1, 2], [3, 4]]]]), Tensor(np.array([[[[0, 3], [12, 15]]]], np.int32))
    for size in ((5, 5), (1, 1, 5, 5)):
        assert ops.max_unpool2d(x, index, 2, output_size=size).asnumpy()[0, 0, 0].tolist() == [1, 0, 0, 2, 0]


@pytest.mark.parametrize(
    "arguments, error",
    [
        ((2, None, 0, (9, 5)), ValueError),
        ((0,), ValueError),
        (("a",), TypeError),
        ((2, "a"), TypeError),
        ((2, None, -1), ValueError),
        ((2, None, 0, "a"), ValueError),
    ],
)
def test_unpool_errors(arguments, error):
    x, index = tensor([[[[1, 2], [3, 4]]]]), Tensor(np.array([[[[0, 3], [12, 15]]]]))
    with pytest.raises(error, match="For 'max_unpool2d'"):
        ops.max_unpool2d(x, index, *arguments)
    with pytest.raises(RuntimeError, match="'indices' must be in"):
        ops.max_unpool2d(x, index + 5, 2)
    with pytest.raises(ValueError, match="one shape"):
        ops.max_unpool2d(x, index[:, :, :1], 2)
    with pytest.raises(TypeError, match="Int32 or Int64"):
        ops.max_unpool2d(x, x, 2)
