"""Convolutions of single channels, and their weights' gradients, against NumPy's windows."""

import numpy as np
import pytest

from dist_ms._ext import depthwise
from dist_ms.ops.convolutions.windows import output_sizes, windows
from tests.serial.kernels.calls import assert_close, call, random, wide

# Sizes, kernel, stride, padding, dilation.
GEOMETRIES = [
    ((9,), (3,), (2,), ((1, 0),), (2,)),
    ((7, 8), (3, 2), (1, 2), ((1, 1), (0, 1)), (1, 1)),
    ((5, 6, 7), (3, 2, 3), (1, 2, 1), ((2, 1), (0, 0), (1, 1)), (2, 1, 3)),
    ((8, 16, 16), (3, 3, 3), (1, 1, 1), ((1, 1), (1, 1), (1, 1)), (1, 1, 1)),
    ((1, 1, 1), (3, 3, 3), (1, 1, 1), ((3, 3), (1, 1), (1, 1)), (1, 1, 1)),
]


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("images, channels", [(0, 3), (1, 1), (2, 32), (3, 45)])
@pytest.mark.parametrize("with_bias", [False, True])
def test_against_numpy(geometry, images, channels, with_bias):
    sizes, kernel, *numbers = geometry
    stride, padding, dilation = numbers
    x, w = random((images, *sizes, channels), np.float32), random((*kernel, channels), np.float32, 2)
    bias = random((channels,), np.float32, 3) if with_bias else None
    counts = output_sizes(sizes, kernel, *numbers)
    out = np.empty((images, *counts, channels), np.float32)
    before = tuple(pair[0] for pair in padding)
    call(depthwise.forward, (x, w, bias, out, stride, before, dilation), [out])
    view = windows(np.moveaxis(wide(x), -1, 1), kernel, *numbers)
    letters = "abc"[: len(sizes)], "xyz"[: len(sizes)]
    wanted = np.einsum(f"nk{letters[0]}{letters[1]},{letters[1]}k->n{letters[0]}k", view, wide(w))
    assert_close(out, wanted if bias is None else wanted + bias, 30)


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("images, channels", [(0, 3), (1, 1), (2, 32), (3, 45), (2, 96)])
def test_gradient_of_the_weights(geometry, images, channels):
    sizes, kernel, *numbers = geometry
    stride, padding, dilation = numbers
    counts = output_sizes(sizes, kernel, *numbers)
    x, dy = random((images, *sizes, channels), np.float32), random((images, *counts, channels), np.float32, 2)
    dw = np.empty((*kernel, channels), np.float32)
    call(depthwise.backward_weights, (x, dy, dw, stride, tuple(pair[0] for pair in padding), dilation), [dw])
    view = windows(np.moveaxis(wide(x), -1, 1), kernel, *numbers)
    letters = "abc"[: len(sizes)], "xyz"[: len(sizes)]
    wanted = np.einsum(f"nk{letters[0]}{letters[1]},n{letters[0]}k->{letters[1]}k", view, wide(dy))
    assert_close(dw, wanted, 30)


def test_refusals():
    x, w, out = np.ones((2, 5, 3), "f4"), np.ones((2, 3), "f4"), np.empty((2, 4, 3), "f4")
    with pytest.raises(TypeError, match="'x' must be float32"):
        depthwise.forward(x.astype("f8"), w, None, out, (1,), (0,), (1,))
    with pytest.raises(ValueError, match="the weight and 'out' must have the channels of 'x'"):
        depthwise.forward(x, w[:, :2].copy(), None, out, (1,), (0,), (1,))
    with pytest.raises(ValueError, match="'bias' must have length 3, but got 2"):
        depthwise.forward(x, w, np.ones(2, "f4"), out, (1,), (0,), (1,))
    with pytest.raises(ValueError, match="'stride' must be 1 numbers of 1 or more"):
        depthwise.forward(x, w, None, out, (0,), (0,), (1,))
    with pytest.raises(ValueError, match="'depthwise.backward_weights', 'stride' must be 1 numbers of 1 or more"):
        depthwise.backward_weights(x, out, w, (0,), (0,), (1,))
    with pytest.raises(ValueError, match="must have the channels of 'x', and 'dy' its images"):
        depthwise.backward_weights(x, out[:1], w, (1,), (0,), (1,))
