"""CentralCrop, ImageGradients and Unfold against NumPy."""

import numpy as np
import pytest

from dist_ms import Tensor, grad, ops
from dist_ms.nn.layer.images.image_parts import CentralCrop, ImageGradients, Unfold
from tests.gradcheck import check_gradient

F = np.float32


def rand(*shape):
    return np.random.RandomState(sum(shape)).randn(*shape).astype(F)


@pytest.mark.parametrize(
    "fraction, shape, rows, columns",
    [(0.5, (3, 4, 6), (1, 3), (1, 5)), (0.3, (2, 3, 7, 5), (2, 5), (1, 4)), (1.0, (1, 3, 2), (0, 3), (0, 2))],
)
def test_central_crop(fraction, shape, rows, columns):
    x = rand(*shape)
    found = CentralCrop(fraction)(Tensor(x)).asnumpy()
    np.testing.assert_array_equal(found, x[..., slice(*rows), slice(*columns)])


def test_central_crop_errors():
    for value in (0.0, 1.1, -0.1):
        with pytest.raises(ValueError, match="central_fraction"):
            CentralCrop(value)
    for value in (1, "a"):
        with pytest.raises(TypeError, match="central_fraction"):
            CentralCrop(value)
    with pytest.raises(ValueError, match="'image'"):
        CentralCrop(0.5)(Tensor(rand(3, 4)))


def test_image_gradients():
    for shape in ((1, 2, 3, 4), (2, 1, 1, 4), (1, 1, 3, 1)):
        x = rand(*shape)
        dy, dx = ImageGradients()(Tensor(x))
        np.testing.assert_array_equal(dy.asnumpy(), np.diff(x, axis=2, append=x[:, :, -1:]))
        np.testing.assert_array_equal(dx.asnumpy(), np.diff(x, axis=3, append=x[..., -1:]))
    ints = Tensor(np.arange(8, dtype=np.int32).reshape(1, 2, 2, 2))
    assert ImageGradients()(ints)[0].dtype == ints.dtype
    check_gradient(ImageGradients(), rand(1, 2, 3, 3))
    with pytest.raises(ValueError, match="'images'"):
        ImageGradients()(Tensor(rand(3, 4)))


def patches(x, size, stride, rate):
    """(N, height width C, H', W'), by hand."""
    spans = [(k - 1) * r + 1 for k, r in zip(size, rate)]
    rows, columns = ((n - span) // s + 1 for n, span, s in zip(x.shape[2:], spans, stride))
    out = np.zeros((x.shape[0], size[0] * size[1] * x.shape[1], rows, columns), x.dtype)
    for r in range(rows):
        for c in range(columns):
            window = x[:, :, r * stride[0] :, c * stride[1] :][:, :, : spans[0] : rate[0], : spans[1] : rate[1]]
            out[:, :, r, c] = window.transpose(0, 2, 3, 1).reshape(x.shape[0], -1)
    return out


@pytest.mark.parametrize(
    "size, stride, rate", [((2, 2), (2, 1), (1, 1)), ((2, 3), (1, 2), (2, 1)), ((1, 1), (1, 1), (1, 1))]
)
def test_unfold(size, stride, rate):
    layer, x = Unfold(*([1, *pair, 1] for pair in (size, stride, rate))), rand(2, 3, 5, 6)
    np.testing.assert_array_equal(layer(Tensor(x)).asnumpy(), patches(x, size, stride, rate))
    counts = grad(lambda t: ops.sum(layer(t)))(Tensor(x)).asnumpy()
    assert counts.sum() == layer(Tensor(x)).size


def test_unfold_same():
    x = rand(1, 2, 5, 4)
    found = Unfold([1, 3, 2, 1], [1, 2, 1, 1], [1, 1, 1, 1], "same")(Tensor(x))
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 1)))
    np.testing.assert_array_equal(found.asnumpy(), patches(padded, (3, 2), (2, 1), (1, 1)))


def test_unfold_errors():
    good = [1, 2, 2, 1]
    with pytest.raises(TypeError, match="ksizes"):
        Unfold(2, good, good)
    for wrong in ([1, 2, 2], [2, 2, 2, 1], [1, 0, 2, 1], [1, 2.0, 2, 1]):
        with pytest.raises(ValueError, match="strides"):
            Unfold(good, wrong, good)
    with pytest.raises(ValueError, match="padding"):
        Unfold(good, good, good, "full")
    with pytest.raises(ValueError, match="'input_x'"):
        Unfold(good, good, good)(Tensor(rand(2, 3, 4)))
    with pytest.raises(ValueError, match="'input_x'"):
        Unfold([1, 6, 2, 1], good, good)(Tensor(rand(1, 1, 5, 5)))
