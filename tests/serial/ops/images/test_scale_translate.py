"""ScaleAndTranslate: kernels, values of MindSpore 2.10, gradients, errors."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops
from dist_ms.ops.images.scale_translate import _KERNELS, weights
from tests.gradcheck import check_gradient


def scaled(image, size, scale, translation, *args):
    pairs = (Tensor(np.array(v, d)) for v, d in ((size, np.int32), (scale, np.float32), (translation, np.float32)))
    return ops.ScaleAndTranslate(*args)(image, *pairs)


def image():
    # Row r, column c: a wave of our own, so that MindSpore's answers below can be asked again.
    r, c = np.mgrid[0:4, 0:5]
    return Tensor(np.sin(1.3 * r + 0.7 * c * c)[None, :, :, None].astype(np.float32))


# What MindSpore 2.10 gave for this image, shrunk to 2 x 3 by (0.6, 0.7) and moved by (0.3, -0.2).
MINDSPORE = {
    ("lanczos1", True): [0.397495, 0.261543, -0.241659, 0.544620, -0.499969, 0.605808],
    ("lanczos1", False): [0.322109, 0.336807, -0.218090, 0.557653, -0.788631, 0.664710],
    ("lanczos3", True): [0.539024, 0.472354, -0.331534, 0.496802, -0.379190, 0.498679],
    ("lanczos3", False): [0.212439, 0.469681, -0.499704, 1.031257, -1.148922, 1.162228],
    ("lanczos5", True): [0.527187, 0.566378, -0.371810, 0.486295, -0.403430, 0.496228],
    ("lanczos5", False): [0.241494, 0.452970, -0.490618, 1.272042, -1.308253, 1.363172],
    ("gaussian", True): [0.452404, 0.215066, -0.120077, 0.337119, -0.147000, 0.339943],
    ("gaussian", False): [0.362021, 0.302058, -0.270749, 0.557653, -0.509559, 0.598818],
    ("box", True): [0.322109, 0.334988, -0.481182, 0.557653, -0.795521, 0.586579],
    ("box", False): [0.322109, 0.334988, 0.016814, 0.557653, -0.795521, 0.734470],
    ("triangle", True): [0.475689, 0.230101, -0.162781, 0.455533, -0.232206, 0.455244],
    ("triangle", False): [0.322109, 0.357076, -0.338898, 0.557653, -0.711857, 0.628833],
    ("keyscubic", True): [0.494850, 0.340546, -0.262582, 0.510259, -0.355517, 0.521302],
    ("keyscubic", False): [0.274095, 0.435842, -0.426794, 0.753948, -0.938370, 0.874479],
    ("mitchellcubic", True): [0.486672, 0.281517, -0.190482, 0.417739, -0.232889, 0.421179],
    ("mitchellcubic", False): [0.316472, 0.365814, -0.363506, 0.664414, -0.711609, 0.747449],
}


@pytest.mark.parametrize("kernel", _KERNELS)
@pytest.mark.parametrize("antialias", [True, False])
def test_values_of_mindspore(kernel, antialias):
    out = scaled(image(), (2, 3), (0.6, 0.7), (0.3, -0.2), kernel, antialias)
    assert out.shape == (1, 2, 3, 1) and out.dtype == ms.float32
    np.testing.assert_allclose(out.asnumpy().ravel(), MINDSPORE[kernel, antialias], atol=2e-6)


@pytest.mark.parametrize("kernel", _KERNELS)
def test_weights_sum_to_one_inside_of_the_image(kernel):
    radius, form = _KERNELS[kernel]
    assert form(np.array([0.0]))[0] > 0 and form(np.array([radius + 0.1]))[0] == 0
    matrix = weights(kernel, True, 9, 30, 2.0, 4.0)
    sums = matrix.sum(axis=1)
    assert np.allclose(sums[4:22], 1, atol=1e-6) and (sums[:4] == 0).all() and (sums[22:] == 0).all()


def test_an_image_that_is_only_moved_keeps_its_pixels():
    out = scaled(image(), (4, 5), (1, 1), (1, 2), "triangle").asnumpy()[0, :, :, 0]
    assert np.array_equal(out[1:, 2:], image().asnumpy()[0, :3, :3, 0])
    assert (out[0] == 0).all() and (out[:, :2] == 0).all()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64", "float16", "float64"])
def test_types(dtype):
    x = (np.arange(24).reshape(1, 4, 3, 2)).astype(dtype)
    out = scaled(Tensor(x), (3, 4), (0.8, 1.5), (0, 0))
    same = scaled(Tensor(x.astype(np.float32)), (3, 4), (0.8, 1.5), (0, 0))
    assert out.dtype == ms.float32 and np.array_equal(out.asnumpy(), same.asnumpy())


def test_gradients():
    x = np.random.default_rng(0).random((2, 5, 6, 3)).astype(np.float32)
    w = np.random.default_rng(1).random((2, 3, 4, 3)).astype(np.float32)
    rows, columns = weights("lanczos3", True, 5, 3, 0.6, 0.3), weights("lanczos3", True, 6, 4, 0.7, -0.2)
    found = ms.grad(lambda x: (scaled(x, (3, 4), (0.6, 0.7), (0.3, -0.2)) * Tensor(w)).sum())(Tensor(x))
    np.testing.assert_allclose(found.asnumpy(), np.einsum("ih,nijc,jw->nhwc", rows, w, columns), atol=1e-5)
    check_gradient(lambda x: scaled(x, (3, 4), (0.6, 0.7), (0.3, -0.2)), x, order=1, step=1e-2, tolerance=1e-3)


def test_errors():
    with pytest.raises(ValueError, match="'kernel_type' must be one of lanczos1"):
        ops.ScaleAndTranslate("cubic")
    with pytest.raises(TypeError, match="'antialias' must be a bool"):
        ops.ScaleAndTranslate("box", 1)
    with pytest.raises(ValueError, match="'scale' must be positive"):
        scaled(image(), (2, 2), (0, 1), (0, 0))
    with pytest.raises(ValueError, match="'size' must be positive"):
        scaled(image(), (2, 0), (1, 1), (0, 0))
    with pytest.raises(ValueError, match="'images' must be of 4 dimensions"):
        scaled(ops.ones((2, 2)), (2, 2), (1, 1), (0, 0))
    with pytest.raises(TypeError, match="'size' must be of int32"):
        ops.ScaleAndTranslate()(image(), Tensor([2, 2]), Tensor([1.0, 1.0]), Tensor([0.0, 0.0]))
    with pytest.raises(ValueError, match=r"'scale' must be of shape \(2,\)"):
        scaled(image(), (2, 2), (1,), (0, 0))
