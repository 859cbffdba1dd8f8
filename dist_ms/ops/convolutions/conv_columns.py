"""Convolutions as matrix products: the windows' elements times the kernels.

The columns are written out, so this pays where many output channels share them. oneDNN's own
convolutions lose most where pixels are few: there they wait for the weights. Sums are float32.
"""

from __future__ import annotations

import math

import numpy as np

from dist_ms.ops.convolutions.windows import Pairs
from dist_ms.ops.kernels import amx, dnnl
from dist_ms.ops.layout import contiguous
from dist_ms.ops.linear_algebra.matrix_product import multiply, suits_amx
from dist_ms.ops.scratch import scratch

_F16, _F32 = np.dtype(np.float16), np.dtype(np.float32)
_WORDS = {2: np.dtype(np.uint16), 4: np.dtype(np.uint32)}
# Where the products win, measured on 2 cores with AVX2, AVX-512 and AMX.
_FEW_PIXELS, _FEW_FOR_GRADIENT = 512, 2048
_LEAST_OUTPUTS, _LEAST_ON_AMX, _LEAST_CHANNELS = 512, 256, 128
# Numbers that columns may have: 32 MB of float32; of few channels they are made so many images at a time.
_MOST, _IN_CACHE = 1 << 23, 1 << 19
# oneDNN's gradient of the input has a vector's lanes for the channels, and its kernels share what neighbouring
# pixels of a row read: both are idle where these are few (1.1 to 300 x on AVX-512).
_FEW_CHANNELS, _OUTPUTS_PER_CHANNEL, _LONG, _LEAST_COLUMNS = 4, 8, 16, 1 << 16
_FEW_IN_ROW, _LEAST_LENGTH, _LEAST_PIXELS, _LEAST_WIDE, _LEAST_WIDE_COLUMNS = 2, 4, 32, 64, 1 << 14

_LEAST_WHOLE = 1 << 14  # numbers of a window


def suits(dtype: np.dtype, y: tuple, w: tuple, group: int, of_weight: bool = False) -> bool:
    """Whether a convolution to shape `y`, or its weight's gradient, gains as a product.

    Of float32, or of a 16-bit type that the CPU computes in.
    """
    pixels, outputs = y[0] * math.prod(y[2:]), w[0]
    if group != 1 or outputs < _LEAST_ON_AMX or len(w) > 4 or not 0 < pixels * math.prod(w[1:]) <= _MOST:
        return False
    if dtype != _F32 and not (dnnl.has_float16() if dtype == _F16 else dnnl.has_bfloat16()):
        return False
    if pixels <= _FEW_PIXELS and outputs >= _LEAST_OUTPUTS:
        return True
    if dtype == _F32:
        return pixels >= _FEW_PIXELS and amx.available() and not dnnl.rounds_factors()
    return of_weight and pixels <= _FEW_FOR_GRADIENT and w[1] >= _LEAST_CHANNELS


def is_wide(y: tuple, w: tuple, group: int) -> bool:
    """Whether windows are about as wide as the images, so that a row of the result has few pixels to share anything."""
    pixels = y[0] * math.prod(y[2:])
    return (
        group == 1
        and y[-1] <= _FEW_IN_ROW
        and w[-1] >= _LEAST_LENGTH
        and w[0] >= _LEAST_WIDE
        and pixels >= _LEAST_PIXELS
        and _LEAST_WIDE_COLUMNS <= pixels * math.prod(w[1:]) <= _MOST
    )


def is_whole(x: np.ndarray, w: np.ndarray, out: np.ndarray, padding: Pairs, group: int) -> bool:
    """Whether one large window covers an image that lies as the weight does: a product of the arrays as they are."""
    return (
        x.shape[1:] == w.shape[1:]
        and group == 1
        and math.prod(w.shape[1:]) >= _LEAST_WHOLE
        and not any(map(any, padding))
        and x.flags.c_contiguous
        and w.flags.c_contiguous
        and out.dtype == x.dtype
        and (x.dtype == _F32 or (x.dtype != _F16 and dnnl.has_bfloat16()))
    )


def convolve_whole(x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, out: np.ndarray) -> np.ndarray:
    """Write the convolution of images that `is_whole` into `out`."""
    multiply(x.reshape(len(x), -1), w.reshape(len(w), -1).T, bias, _images(out).reshape(len(x), len(w)))
    return out


def has_few_channels(y: tuple, w: tuple, group: int) -> bool:
    """Whether an input has so few channels that its gradient is made quicker by adding up columns."""
    outputs, channels, *kernel = w
    of_image = math.prod(y[2:]) * math.prod(w[1:])
    return (
        group == 1
        and channels <= _FEW_CHANNELS
        and (outputs >= _OUTPUTS_PER_CHANNEL * channels or (channels == 1 and kernel[-1] >= _LONG))
        and math.prod(kernel) > 1
        and y[0] * of_image >= _LEAST_COLUMNS
        and of_image <= _MOST
    )


def is_tiled(y: tuple, w: tuple) -> bool:
    """Whether the float32 product is made in AMX tiles."""
    return suits_amx(y[0] * math.prod(y[2:]), w[0], math.prod(w[1:]))


def convolve(
    x: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray | None,
    stride: tuple,
    padding: Pairs,
    dilation: tuple,
    out: np.ndarray,
    relu: bool = False,
) -> np.ndarray:
    """Write the convolution of x (N, C, *spatial) with w (O, C, *kernel), or ReLU of it, into `out`, channels-last."""
    rows = _rows(x, w.shape[2:], stride, padding, dilation, out.shape[2:])
    multiply(rows, _kernels(w).T, bias, _images(out).reshape(-1, out.shape[1]), relu)
    return out


def convolve_transposed(
    dy: np.ndarray, w: np.ndarray, stride: tuple, padding: Pairs, dilation: tuple, dx: np.ndarray
) -> np.ndarray:
    """Write the gradient of the input into `dx`, channels-last memory of the factors' type or float32."""
    from dist_ms._ext import cast, columns

    outputs, channels, *kernel = w.shape
    gradients = contiguous(_images(dy)).reshape(-1, outputs)
    if _is_pixelwise(kernel, stride, padding):
        multiply(gradients, _kernels(w), None, _images(dx).reshape(-1, channels))
        return dx
    images = _images(dx)
    sums = images if dx.dtype == _F32 else scratch.array("products", _F32, *images.shape)
    turned, pixels, elements = _kernels(w), math.prod(dy.shape[2:]), math.prod(w.shape[1:])
    at_once = len(images)
    if len(images) * pixels * elements > _IN_CACHE and channels <= _FEW_CHANNELS:
        at_once = max(1, _IN_CACHE // (pixels * elements))
    for first in range(0, len(images), at_once):
        part = images[first : first + at_once]
        parts = scratch.array("inputs", _F32, len(part), *dy.shape[2:], *kernel, channels)
        rows = gradients[first * pixels : (first + len(part)) * pixels]
        multiply(rows, turned, None, parts.reshape(len(rows), elements))
        columns.fold(parts, sums[first : first + at_once], *_numbers(stride, padding, dilation))
    if sums is not images:
        (cast.to_float16 if images.dtype == _F16 else cast.to_bfloat16)(sums, images)
    return dx


def convolution_weights(
    x: np.ndarray, dy: np.ndarray, dw: np.ndarray, stride: tuple, padding: Pairs, dilation: tuple
) -> np.ndarray:
    """Write the gradient of the weight, given x (N, C, *spatial) and dy, into `dw`: row-major, x's type or float32."""
    from dist_ms._ext import interleave

    outputs, channels, *kernel = dw.shape
    rows = _rows(x, kernel, stride, padding, dilation, dy.shape[2:])
    gradients = contiguous(_images(dy)).reshape(-1, outputs).T
    places = math.prod(kernel)
    if places == 1:
        multiply(gradients, rows, None, dw.reshape(outputs, channels))
        return dw
    products = scratch.array("products", dw.dtype, outputs, places, channels)
    multiply(gradients, rows, None, products.reshape(outputs, -1))
    interleave.interleave(products, dw.reshape(outputs, channels, places))
    return dw


def _is_pixelwise(kernel: tuple, stride: tuple, padding: Pairs) -> bool:
    """Whether a row of columns is a pixel."""
    return math.prod(kernel) == 1 == math.prod(stride) and not any(map(any, padding))


def _numbers(stride: tuple, padding: Pairs, dilation: tuple) -> tuple:
    """Stride, zeros before the images and dilation."""
    return tuple(stride), tuple([before for before, _ in padding]), tuple(dilation)


def _images(x: np.ndarray) -> np.ndarray:
    """A view (N, *sizes, C) of (N, C, *sizes)."""
    return x.transpose(0, *range(2, x.ndim), 1)


def _rows(x: np.ndarray, kernel: tuple, stride: tuple, padding: Pairs, dilation: tuple, sizes: tuple) -> np.ndarray:
    """The columns: a row (*kernel, C) per pixel of the result."""
    from dist_ms._ext import columns

    images = contiguous(_images(x))
    channels = images.shape[-1]
    if _is_pixelwise(kernel, stride, padding):
        return images.reshape(-1, channels)
    shape = (images.shape[0], *sizes, *kernel, channels)
    windows = scratch.array("inputs", x.dtype, *shape)
    columns.unfold(images, windows, *_numbers(stride, padding, dilation))
    return windows.reshape(images.shape[0] * math.prod(sizes), -1)


def _kernels(w: np.ndarray) -> np.ndarray:
    """The weight as a matrix: a row (*kernel, C) per output."""
    from dist_ms._ext import interleave

    outputs, channels, *kernel = w.shape
    places, word = math.prod(kernel), _WORDS[w.itemsize]
    w = contiguous(w)
    if places == 1:
        return w.reshape(outputs, channels)
    turned = scratch.array("kernels", w.dtype, outputs, places, channels)
    interleave.interleave(w.reshape(outputs, channels, places).view(word), turned.view(word))
    return turned.reshape(outputs, -1)
