"""Fractional max pooling: the windows, values of MindSpore 2.10, gradients, layers, errors."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops
from dist_ms.nn.layer.pooling_windows.fractional_pooling import FractionalMaxPool2d, FractionalMaxPool3d
from dist_ms.ops.pooling_windows.fractional_pooling import (
    FractionalMaxPool3DWithFixedKsize,
    FractionalMaxPoolWithFixedKsize,
    fractional_max_pool2d,
    fractional_max_pool3d,
    window_starts,
)
from tests.gradcheck import check_gradient

F = np.float32


def counting(*shape):
    return Tensor(np.arange(np.prod(shape)).reshape(shape).astype(F))


def samples(*numbers):
    return Tensor(np.array(numbers, F).reshape(1, 1, -1))


def test_windows_cover_the_input():
    u = np.linspace(0, 1, 50, endpoint=False)
    for length, size, count in [(7, 2, 3), (9, 1, 4), (20, 3, 15), (5, 5, 1), (6, 2, 5)]:
        starts = window_starts(u, length, size, count)
        assert starts.shape == (50, count) and (starts[:, -1] == length - size).all()
        assert count == 1 or ((starts[:, 0] == 0).all() and (np.diff(starts) > 0).all())


def test_values_of_mindspore():
    _, places = fractional_max_pool2d(counting(1, 1, 9, 9), 1, (4, 4), None, True, samples(0, 0.35))
    assert places.dtype == ms.int64
    assert places.asnumpy().ravel().tolist() == [0, 2, 5, 8, 27, 29, 32, 35, 54, 56, 59, 62, 72, 74, 77, 80]
    out, places = fractional_max_pool2d(counting(1, 1, 7, 7), 2, None, (0.5, 0.6), True, samples(0.2, 0.7))
    assert out.asnumpy().ravel().tolist() == [8, 10, 11, 13, 29, 31, 32, 34, 43, 45, 46, 48]
    assert (out == places).all()
    out = fractional_max_pool3d(counting(1, 1, 5, 5, 5), (2, 1, 3), (2, 3, 1), _random_samples=samples(0.2, 0.7, 0.4))
    assert out.asnumpy().ravel().tolist() == [29, 39, 49, 104, 114, 124]
    volume = fractional_max_pool3d(counting(1, 1, 9, 9, 9), 1, (3, 4, 5), None, True, samples(0.7, 0, 0.35))[1]
    assert volume.asnumpy()[0, 0, 1, :, 1].tolist() == [326, 344, 371, 398]


def test_ties_and_nan():
    ones = Tensor(np.ones((1, 1, 4, 4), F))
    assert fractional_max_pool2d(ones, 2, 2, None, True, samples(0, 0))[1].asnumpy().ravel().tolist() == [0, 2, 8, 10]
    x = np.arange(16, dtype=F).reshape(1, 1, 4, 4)
    x[0, 0, 1, 0] = np.nan
    out, _ = fractional_max_pool2d(Tensor(x), 2, 2, None, True, samples(0, 0))
    assert out.asnumpy().ravel().tolist() == [5, 7, 13, 15]


@pytest.mark.parametrize("rank", [2, 3])
def test_gradients_go_to_the_maxima(rank):
    pool = fractional_max_pool2d if rank == 2 else fractional_max_pool3d
    x = np.random.default_rng(1).permutation(2 * 2 * 6**rank).reshape(2, 2, *(6,) * rank).astype(np.float64)
    u = Tensor(np.random.default_rng(2).random((2, 2, rank)))
    check_gradient(lambda x: pool(x, 2, 4, _random_samples=u), x, order=2, step=1e-3)
    counts = ms.grad(lambda x: ops.sum(pool(x, 2, 4, _random_samples=u)))(Tensor(x)).asnumpy()
    assert counts.sum() == 4 * 4**rank


def test_forms_of_input():
    x = counting(3, 7, 7)
    out, places = fractional_max_pool2d(x, 2, 3, return_indices=True)
    assert out.shape == places.shape == (3, 3, 3)
    assert fractional_max_pool2d(ops.cast(x, ms.int32), 2, 3).dtype == ms.int32
    assert fractional_max_pool2d(ops.cast(x, ms.float16), 2, output_ratio=0.5).shape == (3, 3, 3)
    u = np.random.RandomState(0).rand(1, 3, 3).astype(F)
    volume = np.random.RandomState(1).rand(3, 5, 6, 7).astype(F)
    found = fractional_max_pool3d(Tensor(volume), 2, 3, _random_samples=Tensor(u))
    wanted = fractional_max_pool3d(Tensor(volume[None]), 2, 3, _random_samples=Tensor(u))
    assert (found == wanted[0]).all()
    pool = FractionalMaxPool3DWithFixedKsize(2, 3)
    assert (pool(Tensor(volume), Tensor(u.swapaxes(0, 1)))[0] == found).all()


def test_layers():
    x, u = counting(1, 1, 7, 7), samples(0.2, 0.7)
    found = FractionalMaxPool2d(2, output_ratio=0.5, return_indices=True, _random_samples=u)(x)
    wanted = fractional_max_pool2d(x, 2, None, 0.5, True, u)
    assert all((a == b).all() for a, b in zip(found, wanted, strict=True))
    assert FractionalMaxPool3d((1, 2, 2), output_size=(2, 3, 2))(counting(2, 1, 4, 5, 5)).shape == (2, 1, 2, 3, 2)
    ms.set_seed(3)
    draws = [FractionalMaxPool2d(2, output_size=5)(counting(1, 1, 20, 20)).asnumpy().tolist() for _ in range(5)]
    ms.set_seed(3)
    again = FractionalMaxPool2d(2, output_size=5)(counting(1, 1, 20, 20)).asnumpy().tolist()
    assert again == draws[0] and any(d != draws[0] for d in draws)


def test_errors():
    x, u = counting(1, 1, 7, 7), samples(0.2, 0.7)
    for error, options in [
        (ValueError, {}),
        (ValueError, {"output_size": 8}),
        (ValueError, {"output_size": 7}),
        (ValueError, {"output_size": 0}),
        (ValueError, {"output_size": (2,)}),
        (TypeError, {"output_size": 2.0}),
        (ValueError, {"output_ratio": 1.0}),
        (ValueError, {"output_ratio": 0.0}),
        (TypeError, {"output_ratio": 1}),
        (ValueError, {"output_size": 2, "kernel_size": 0}),
        (TypeError, {"output_size": 2, "kernel_size": "a"}),
        (ValueError, {"output_size": 2, "kernel_size": 8}),
        (TypeError, {"output_size": 2, "return_indices": 1}),
        (ValueError, {"output_size": 2, "_random_samples": samples(0.1, 0.2, 0.3)}),
        (TypeError, {"output_size": 2, "_random_samples": 3}),
        (ValueError, {"output_size": 2, "input": x[0, 0]}),
        (AttributeError, {"output_size": 2, "input": 3}),
    ]:
        with pytest.raises(error, match="For '"):
            fractional_max_pool2d(**{"input": x, "kernel_size": 2, "_random_samples": u, **options})
    volume = counting(1, 1, 5, 5, 5)
    with pytest.raises(TypeError, match="one dtype"):
        fractional_max_pool3d(ops.cast(volume, ms.int32), 2, 2)
    with pytest.raises(ValueError, match="data_format"):
        FractionalMaxPoolWithFixedKsize(2, 2, "NHWC")
