"""deformable_conv2d and DeformableOffsets: a twin in loops, gradients, plain convolutions, errors."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops
from tests.gradcheck import check_gradient

F = np.float32


def pixel(image, y, x):
    """The value between the pixels of one image (H, W), 0 outside."""
    total, low_y, low_x = 0.0, int(np.floor(y)), int(np.floor(x))
    for i in (low_y, low_y + 1):
        for j in (low_x, low_x + 1):
            if 0 <= i < image.shape[0] and 0 <= j < image.shape[1]:
                total += image[i, j] * (1 - abs(y - i)) * (1 - abs(x - j))
    return total


def twin(x, offsets, size, strides, pads, dilations, groups):
    """DeformableOffsets, an element at a time."""
    batch, channels = x.shape[:2]
    parts = offsets.reshape(batch, 3, groups, *size, *offsets.shape[2:])
    rows, columns = offsets.shape[2:]
    out = np.zeros((batch, channels, rows * size[0], columns * size[1]))
    for n, c, i, j, a, b in np.ndindex(batch, channels, rows, columns, *size):
        g = c // (channels // groups)
        y = i * strides[0] - pads[0] + a * dilations[0] + parts[n, 1, g, a, b, i, j]
        z = j * strides[1] - pads[2] + b * dilations[1] + parts[n, 0, g, a, b, i, j]
        out[n, c, i * size[0] + a, j * size[1] + b] = parts[n, 2, g, a, b, i, j] * pixel(x[n, c], y, z)
    return out


CASES = [
    # image, window, strides, pads, dilations, deformable groups
    ((2, 4, 5, 6), (2, 3), (1, 1), (0, 0, 0, 0), (1, 1), 1),
    ((2, 4, 5, 6), (2, 3), (2, 2), (1, 2, 0, 1), (1, 1), 2),
    ((1, 2, 7, 6), (3, 2), (1, 2), (1, 1, 2, 0), (2, 3), 1),
    ((1, 3, 1, 1), (1, 1), (1, 1), (0, 0, 0, 0), (1, 1), 3),
    ((0, 2, 4, 4), (2, 2), (1, 1), (0, 0, 0, 0), (1, 1), 1),
]


def made(case, dtype=F, scale=2.0):
    image, size, strides, pads, dilations, groups = case
    rng = np.random.default_rng(0)
    counts = [
        (n + p + q - d * (k - 1) - 1) // s + 1
        for n, k, s, d, p, q in zip(image[2:], size, strides, dilations, pads[::2], pads[1::2])
    ]
    offsets = rng.uniform(-scale, scale, (image[0], 3 * groups * size[0] * size[1], *counts)).astype(dtype)
    options = {"dilations": (1, 1, *dilations), "deformable_groups": groups}
    return rng.standard_normal(image).astype(dtype), offsets, ((1, 1, *strides), pads, size), options


@pytest.mark.parametrize("case", CASES)
def test_windows_are_read_as_in_loops(case):
    x, offsets, (strides, pads, size), options = made(case)
    found = ops.DeformableOffsets(strides, pads, size, **options)(Tensor(x), Tensor(offsets))
    want = twin(x, offsets, size, strides[2:], pads, options["dilations"][2:], options["deformable_groups"])
    np.testing.assert_allclose(found.asnumpy(), want, atol=1e-5)
    assert found.dtype == ms.float32


@pytest.mark.parametrize("case", CASES[:4])
def test_the_convolution_weighs_the_windows(case):
    x, offsets, (strides, pads, size), options = made(case)
    rng = np.random.default_rng(1)
    weight, bias = rng.standard_normal((3, x.shape[1], *size)).astype(F), rng.standard_normal(3).astype(F)
    args = (Tensor(x), Tensor(weight), Tensor(offsets), size, strides, pads, Tensor(bias))
    found = ops.deformable_conv2d(*args, **options).asnumpy()
    read = twin(x, offsets, size, strides[2:], pads, options["dilations"][2:], options["deformable_groups"])
    blocks = read.reshape(*read.shape[:2], offsets.shape[2], size[0], offsets.shape[3], size[1])
    want = np.einsum("nciajb,ocab->noij", blocks, weight) + bias[:, None, None]
    np.testing.assert_allclose(found, want, atol=1e-4)


def test_without_offsets_it_is_a_convolution():
    rng = np.random.default_rng(0)
    x, weight = Tensor(rng.standard_normal((2, 4, 8, 7)).astype(F)), Tensor(rng.standard_normal((6, 2, 3, 3)).astype(F))
    offsets = np.zeros((2, 27, 6, 5), F)
    offsets[:, 18:] = 1
    found = ops.deformable_conv2d(x, weight, Tensor(offsets), (3, 3), (1, 1, 1, 1), (0, 0, 0, 0), groups=2)
    np.testing.assert_allclose(found.asnumpy(), ops.conv2d(x, weight, groups=2).asnumpy(), atol=1e-5)


def test_gradients_of_image_weight_and_offsets():
    x, offsets, (strides, pads, size), options = made(CASES[1], np.float64, scale=0.4)
    # Away from whole places, where the interpolation has kinks.
    offsets = np.where(np.abs(offsets) < 0.1, 0.2, offsets)
    weight = np.random.default_rng(1).standard_normal((3, 4, *size))

    def run(x, weight, offsets):
        return ops.deformable_conv2d(x, weight, offsets, size, strides, pads, **options)

    check_gradient(run, x, weight, offsets, order=2)


def test_float16():
    x, offsets, (strides, pads, size), options = made(CASES[0])
    read = ops.DeformableOffsets(strides, pads, size, **options)
    half = read(Tensor(x.astype(np.float16)), Tensor(offsets.astype(np.float16)))
    assert half.dtype == ms.float16
    want = twin(x.astype(np.float16).astype(F), offsets.astype(np.float16).astype(F), size, (1, 1), pads, (1, 1), 1)
    np.testing.assert_allclose(half.asnumpy(), want, atol=1e-2)


@pytest.mark.parametrize(
    "changes, error, text",
    [
        ({"strides": (1, 1, 1)}, ValueError, "'strides' must be 4 ints"),
        ({"strides": (2, 1, 1, 1)}, ValueError, r"'strides' must be \(1, 1, height, width\)"),
        ({"strides": [1, 1, 1, 1]}, TypeError, "'strides' must be a tuple of int, but got list"),
        ({"pads": (0, 0, 0)}, ValueError, "'pads' must be 4 ints"),
        ({"ksize": 3}, TypeError, "'ksize' must be a tuple"),
        ({"ksize": (3, 3)}, ValueError, "'offsets' must be of shape"),
        ({"dilations": (1, 1, 0, 1)}, ValueError, "'dilations' must be 4 ints of at least 1"),
        ({"deformable_groups": 3}, ValueError, "a divisor of 4 channels"),
        ({"data_format": "NHWC"}, ValueError, "'data_format' must be 'NCHW'"),
        ({"modulated": False}, ValueError, "'modulated' must be True"),
    ],
)
def test_errors(changes, error, text):
    x, offsets, (strides, pads, size), _ = made(CASES[0])
    with pytest.raises(error, match=text):
        ops.DeformableOffsets(**{"strides": strides, "pads": pads, "ksize": size, **changes})(
            Tensor(x), Tensor(offsets)
        )
    with pytest.raises(TypeError, match="'x'"):
        ops.DeformableOffsets(strides, pads, size)(Tensor(x.astype(np.int32)), Tensor(offsets))
    with pytest.raises(TypeError, match="must have the dtype of 'x'"):
        ops.DeformableOffsets(strides, pads, size)(Tensor(x.astype(np.float64)), Tensor(offsets))


def test_windows_of_another_size():
    x, offsets = ops.ones((1, 1, 5, 5)), ops.ones((1, 27, 3, 3))
    for shape in ((2, 1, 3, 4), (2, 1, 2, 3)):
        with pytest.raises(RuntimeError, match="'weight' must be of windows of 'kernel_size'"):
            ops.deformable_conv2d(x, ops.ones(shape), offsets, (3, 3), (1, 1, 1, 1), (0, 0, 0, 0))
