"""3 x 3 convolutions of stride 1 in float32 by Winograd's F(4x4, 3x3): a quarter of the products.

Three transforms around 36 matrix products. The results differ from a direct convolution's by
rounding, about ten times as much of it: 1e-5 of the largest result. Both orders of work give the
same bits at every run. DIST_MS_WINOGRAD=0 in the environment turns it off.
"""

from __future__ import annotations

import numpy as np

from dist_ms.ops.convolutions.plan import TILE
from dist_ms.ops.convolutions.windows import Pairs
from dist_ms.ops.kernels import dnnl, winograd
from dist_ms.ops.layout import channels_last, contiguous, is_channels_last
from dist_ms.ops.scratch import scratch

_F32 = np.dtype(np.float32)
# The tiles of a call: so many numbers are made at a time.
_PART = 1 << 21
# Memory at multiples of a page falls into a few sets of the cache, so rows and planes get gaps.
_PAGE, _GAP = 1024, 16


def _planes(use: str, rows: int, columns: int) -> np.ndarray:
    """Scratch of 36 matrices."""
    row = columns + _GAP if columns % (_PAGE // 2) == 0 else columns
    plane = rows * row + _GAP if rows * row % _PAGE == 0 else rows * row
    flat = scratch.array(use, _F32, 36, plane)
    return flat[:, : rows * row].reshape(36, rows, row)[:, :, :columns]


def _tiles(sizes: tuple) -> tuple[int, int]:
    return -(-sizes[0] // TILE), -(-sizes[1] // TILE)


def convolve(x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, padding: Pairs, out: np.ndarray) -> None:
    """Write the convolution (N, O, *sizes) of x (N, C, H, W) with w (O, C, 3, 3), channels-last."""
    kernels = _planes("kernels", *w.shape[:2])
    winograd.kernel_tiles(contiguous(w), False, kernels)
    _multiply(x, kernels.swapaxes(1, 2), bias, (padding[0][0], padding[1][0]), out)


def convolve_transposed(dy: np.ndarray, w: np.ndarray, padding: Pairs, dx: np.ndarray) -> None:
    """Write the gradient of the input, channels-last: a convolution with the kernels turned."""
    kernels = _planes("kernels", *w.shape[:2])
    winograd.kernel_tiles(contiguous(w), True, kernels)
    _multiply(dy, kernels, None, (2 - padding[0][0], 2 - padding[1][0]), dx)


def _multiply(x: np.ndarray, kernels: np.ndarray, bias: np.ndarray | None, before: tuple, out: np.ndarray) -> None:
    """Write the convolution of x with transformed kernels (36, channels of x, channels of the result)."""
    x = last(x)
    channels, outputs = kernels.shape[1:]
    rows, columns = _tiles(out.shape[2:])
    at_once = max(1, _PART // (36 * rows * columns * max(channels, outputs)))
    for first in range(0, x.shape[0], at_once):
        part = x[first : first + at_once]
        count = part.shape[0] * rows * columns
        inputs = _planes("inputs", count, channels)
        products = _planes("products", count, outputs)
        winograd.input_tiles(part, *before, rows, columns, inputs)
        dnnl.matmul(inputs, kernels, products)
        winograd.result_tiles(products, rows, columns, bias, out[first : first + at_once])


def convolution_weights(x: np.ndarray, dy: np.ndarray, dw: np.ndarray, padding: Pairs) -> None:
    """Write the gradient of the weight, row-major."""
    rows, columns = _tiles(dy.shape[2:])
    count = x.shape[0] * rows * columns
    inputs = _planes("inputs", count, x.shape[1])
    gradients = _planes("products", count, dy.shape[1])
    winograd.input_tiles(last(x), padding[0][0], padding[1][0], rows, columns, inputs)
    winograd.gradient_tiles(last(dy), rows, columns, gradients)
    kernels = _planes("kernels", *dw.shape[:2])
    dnnl.matmul(gradients.swapaxes(1, 2), inputs, kernels)
    winograd.kernel_gradients(kernels, dw)


def last(x: np.ndarray) -> np.ndarray:
    """`x` in channels-last memory without gaps."""
    if is_channels_last(x):
        return x
    copy = channels_last(x.shape, x.dtype)
    copy[...] = x
    return copy
