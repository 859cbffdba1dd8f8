"""3 x 3 convolutions of stride 1 in float32 by Winograd's F(4x4, 3x3): a quarter of the products.

Three transforms around 36 matrix products. The results differ from a direct convolution's by
rounding, about ten times as much of it: 1e-5 of the largest result. Both orders of work give the
same bits at every run. DIST_MS_WINOGRAD=0 in the environment turns it off.
"""

from __future__ import annotations

import numpy as np

from dist_ms.common.settings.environment import value_of
from dist_ms.ops.convolutions.windows import Pairs
from dist_ms.ops.layout import channels_last, contiguous, is_channels_last
from dist_ms.ops.scratch import scratch

_F32 = np.dtype(np.float32)
_TILE = 4
_LANES = 16
# Below these oneDNN's direct convolution is as fast (measured on 2 cores with AVX-512).
_LEAST_CHANNELS, _LEAST_PIXELS = 64, 512
_choice = value_of("DIST_MS_WINOGRAD")
if _choice not in ("0", "1"):
    raise ImportError(f"DIST_MS_WINOGRAD must be 0 or 1, but got '{_choice}'.")
_allowed = _choice == "1"
# The tiles of a call: so many numbers are made at a time, and of the gradient's at most.
_PART, _MOST = 1 << 21, 1 << 25


# Memory at multiples of a page falls into a few sets of the cache, so rows and planes get gaps.
_PAGE, _GAP = 1024, 16


def _planes(use: str, rows: int, columns: int) -> np.ndarray:
    """Scratch of 36 matrices."""
    row = columns + _GAP if columns % (_PAGE // 2) == 0 else columns
    plane = rows * row + _GAP if rows * row % _PAGE == 0 else rows * row
    flat = scratch.array(use, _F32, 36, plane)
    return flat[:, : rows * row].reshape(36, rows, row)[:, :, :columns]


def _tiles(sizes: tuple) -> tuple[int, int]:
    return -(-sizes[0] // _TILE), -(-sizes[1] // _TILE)


def suits(x: tuple, w: tuple, stride: tuple, padding: Pairs, dilation: tuple, group: int) -> bool:
    """Whether a float32 convolution of these shapes gains: wide, in whole vectors, of many pixels.

    None does where oneDNN may round the factors to bfloat16.
    """
    if w[2:] != (3, 3):
        return False
    from dist_ms._ext.dnnl import rounds_factors

    return (
        stride == (1, 1) == dilation
        and group == 1
        and min(w[:2]) >= _LEAST_CHANNELS
        and not (w[0] % _LANES or w[1] % _LANES)
        and x[0] * x[2] * x[3] >= _LEAST_PIXELS
        and min(x[2:]) >= _TILE - 1
        and max(max(pair) for pair in padding) <= 2
        and _allowed
        and not rounds_factors()
    )


def convolve(
    x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, padding: Pairs, sizes: tuple, relu: bool = False
) -> np.ndarray:
    """The convolution (N, O, *sizes) of x (N, C, H, W) with w (O, C, 3, 3), or ReLU of it."""
    from dist_ms._ext import winograd

    kernels = _planes("kernels", *w.shape[:2])
    winograd.kernel_tiles(contiguous(w), False, kernels)
    return _multiplied(x, kernels.swapaxes(1, 2), bias, (padding[0][0], padding[1][0]), sizes, relu)


def convolve_transposed(dy: np.ndarray, w: np.ndarray, shape: tuple, padding: Pairs) -> np.ndarray:
    """The gradient (of shape `shape`) of the input: a convolution with the kernels turned."""
    from dist_ms._ext import winograd

    kernels = _planes("kernels", *w.shape[:2])
    winograd.kernel_tiles(contiguous(w), True, kernels)
    return _multiplied(dy, kernels, None, (2 - padding[0][0], 2 - padding[1][0]), shape[2:])


def _multiplied(
    x: np.ndarray, kernels: np.ndarray, bias: np.ndarray | None, before: tuple, sizes: tuple, relu: bool = False
) -> np.ndarray:
    """The convolution of x with transformed kernels (36, channels of x, channels of the result)."""
    from dist_ms._ext import dnnl, winograd

    x = last(x)
    channels, outputs = kernels.shape[1:]
    rows, columns = _tiles(sizes)
    out = channels_last((x.shape[0], outputs, *sizes), _F32)
    at_once = max(1, _PART // (36 * rows * columns * max(channels, outputs)))
    for first in range(0, x.shape[0], at_once):
        part = x[first : first + at_once]
        count = part.shape[0] * rows * columns
        inputs = _planes("inputs", count, channels)
        products = _planes("products", count, outputs)
        winograd.input_tiles(part, *before, rows, columns, inputs)
        dnnl.matmul(inputs, kernels, products)
        winograd.result_tiles(products, rows, columns, bias, out[first : first + at_once], relu)
    return out


def gradient_suits(x: tuple, y: tuple) -> bool:
    """Whether the tiles of the weight gradient, which are all needed at once, are not too many."""
    rows, columns = _tiles(y[2:])
    return 36 * x[0] * rows * columns * max(x[1], y[1]) <= _MOST


def convolution_weights(
    x: np.ndarray, dy: np.ndarray, shape: tuple, padding: Pairs, out: np.ndarray | None = None
) -> np.ndarray:
    """The gradient (of shape `shape`) of the weight, in `out` where given."""
    from dist_ms._ext import dnnl, winograd

    rows, columns = _tiles(dy.shape[2:])
    count = x.shape[0] * rows * columns
    inputs = _planes("inputs", count, x.shape[1])
    gradients = _planes("products", count, dy.shape[1])
    winograd.input_tiles(last(x), padding[0][0], padding[1][0], rows, columns, inputs)
    winograd.gradient_tiles(last(dy), rows, columns, gradients)
    kernels = _planes("kernels", *shape[:2])
    dnnl.matmul(gradients.swapaxes(1, 2), inputs, kernels)
    dw = np.empty(shape, _F32) if out is None else out
    winograd.kernel_gradients(kernels, dw)
    return dw


def last(x: np.ndarray) -> np.ndarray:
    """`x` in channels-last memory without gaps."""
    if is_channels_last(x):
        return x
    copy = channels_last(x.shape, x.dtype)
    copy[...] = x
    return copy
