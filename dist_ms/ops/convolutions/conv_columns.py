"""Convolutions as matrix products: the windows' elements times the kernels.

The columns are written out, so this pays where many output channels share them. oneDNN's own
convolutions lose most where pixels are few: there they wait for the weights. Sums are float32.
"""

from __future__ import annotations

import math

import numpy as np

from dist_ms._ext.threads import get_num_threads
from dist_ms.ops.capabilities import capabilities
from dist_ms.ops.convolutions.conv_geometry import Geometry
from dist_ms.ops.convolutions.plan import FEW_CHANNELS
from dist_ms.ops.kernels import cast, columns, dnnl, interleave
from dist_ms.ops.layout import contiguous, copy_into
from dist_ms.ops.linear_algebra.matrix_product import multiply
from dist_ms.ops.scratch import scratch

_F16, _F32 = np.dtype(np.float16), np.dtype(np.float32)
_WORDS = {2: np.dtype(np.uint16), 4: np.dtype(np.uint32)}
# Numbers of columns that are made at a time where channels are few, so that they stay in the cache.
_IN_CACHE = 1 << 18
# Numbers of a vector; images, and pixels of each, from which on products of 16 bits are made channel by channel (2 x).
_LANES, _LEAST_BATCH, _LEAST_PLANE = 16, 8, 128
# Sides of a matrix, the shorter and the longer one, from which on its tiles are turned sooner than lines (1.3 to 5 x).
_LEAST_TURNED, _LEAST_LONG = 16, 32
_MOST_PARTS = 16  # of a sum that threads share


def convolve_whole(x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, out: np.ndarray) -> None:
    """Write the convolution of images that one window covers each into `out`: row-major images are multiplied."""
    images, kernels = contiguous(x).reshape(len(x), -1), contiguous(w).reshape(len(w), -1)
    result = _images(out).reshape(len(x), len(w))
    if bias is not None or len(x) % _LANES:
        multiply(images, kernels.T, bias, result)
        return
    # oneDNN re-lays the second factor: let it be the images, which are fewer and fill its vectors. With AMX it has one
    # thread for so few results, so each thread adds a part of the products (1.8 x on two).
    most = min(get_num_threads(), _MOST_PARTS) if capabilities().amx else 1
    parts = next(n for n in range(most, 0, -1) if images.shape[1] % n == 0)
    products = scratch.array("products", _F32, parts, len(w), len(x))
    parted = (len(w), parts, -1), (len(x), parts, -1)
    dnnl.matmul(kernels.reshape(parted[0]).transpose(1, 0, 2), images.reshape(parted[1]).transpose(1, 2, 0), products)
    np.copyto(result, products.sum(0).T, casting="unsafe")


def convolve_whole_transposed(dy: np.ndarray, w: np.ndarray, dx: np.ndarray) -> None:
    """Write the gradient of such a convolution's input into `dx`, likewise."""
    gradients, kernels = contiguous(dy).reshape(len(dy), -1), contiguous(w).reshape(len(w), -1)
    products = scratch.array("products", dx.dtype, *dx.shape)
    outputs, channels, pixels = len(w), w.shape[1], math.prod(w.shape[2:])
    if w.itemsize == 2 and len(dy) >= _LEAST_BATCH and pixels >= _LEAST_PLANE:
        # oneDNN re-lays 16-bit kernels, too, but not those of a channel.
        each = scratch.array("inputs", dy.dtype, channels, *gradients.shape)
        np.copyto(each, gradients)
        planes = products.reshape(len(dy), channels, pixels).transpose(1, 0, 2)
        dnnl.matmul(each, kernels.reshape(outputs, channels, pixels).transpose(1, 0, 2), planes)
    else:
        multiply(gradients, kernels, None, products.reshape(len(dy), -1))
    copy_into(products, dx)


def convolve(
    x: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray | None,
    at: Geometry,
    out: np.ndarray,
) -> None:
    """Write the convolution of x (N, C, *spatial) with w (O, C, *kernel) into `out`, channels-last."""
    rows, result = _rows(x, at), _images(out).reshape(-1, out.shape[1])
    if turns_rows(at):
        multiply(_in_kernels_order(rows, w), contiguous(w).reshape(len(w), -1).T, bias, result)
    else:
        multiply(rows, _kernels(w).T, bias, result)


def convolve_rows(x: np.ndarray, w: np.ndarray, bias: np.ndarray | None, at: Geometry, out: np.ndarray) -> None:
    """Write the convolution of images without a stride downwards into `out`, as one of signals of windows' rows.

    Windows below each other are then pixels beside each other, so a tile is as full as there are pixels in an image.
    """
    outputs, channels, height, width = w.shape
    count, _, rows, row = out.shape
    (above, _), (left, _) = at.padding
    shape = count, rows + (height - 1) * at.dilation[0], row, 1, width, channels
    pieces = scratch.array("inputs", x.dtype, *shape)
    columns.unfold(contiguous(_images(x)), pieces, (1, at.stride[1]), (above, left), (1, at.dilation[1]))
    signals = pieces.reshape(count, -1, width * channels).transpose(0, 2, 1)
    kernels = scratch.array("kernels", w.dtype, outputs, width, channels, height)
    copy_into(w.transpose(0, 3, 1, 2), kernels)
    result = _images(out).reshape(count, -1, outputs).transpose(0, 2, 1)
    turned = kernels.reshape(outputs, -1, height)
    dnnl.conv_forward(signals, turned, bias, result, (1,), ((0, 0),), (at.dilation[0] * row,), 1)


def convolve_transposed(dy: np.ndarray, w: np.ndarray, at: Geometry, dx: np.ndarray) -> None:
    """Write the gradient of the input into `dx`, channels-last memory of the factors' type or float32."""
    outputs, channels, *kernel = w.shape
    gradients = contiguous(_images(dy)).reshape(-1, outputs)
    if at.is_plain:
        multiply(gradients, _kernels(w), None, _images(dx).reshape(len(gradients), -1))
        return
    images = _images(dx)
    sums = images if dx.dtype == _F32 else scratch.array("products", _F32, *images.shape)
    pixels, elements = math.prod(dy.shape[2:]), math.prod(w.shape[1:])
    if turns_rows(at):
        found = scratch.array("kernels", _F32, len(gradients), channels, elements // channels)
        multiply(gradients, contiguous(w).reshape(outputs, -1), None, found.reshape(len(gradients), -1))
        parts = scratch.array("inputs", _F32, len(images), *dy.shape[2:], *kernel, channels)
        _turn(found, parts.reshape(len(gradients), -1, channels))
        columns.fold(parts, sums, *_numbers(at))
        _narrow(sums, images)
        return
    turned = _kernels(w)
    at_once = len(images)
    if len(images) * pixels * elements > _IN_CACHE and channels <= FEW_CHANNELS:
        at_once = max(1, _IN_CACHE // (pixels * elements))
    for first in range(0, len(images), at_once):
        part = sums[first : first + at_once]
        rows = gradients[first * pixels : (first + len(part)) * pixels]
        if at.has_long_rows:
            parts = scratch.array("inputs", _F32, *kernel, len(part), *dy.shape[2:])
            multiply(turned.T, rows.T, None, parts.reshape(elements, len(rows)))
            planes = np.moveaxis(parts, len(kernel), 0)[:, None]
            columns.fold_planes(planes, part.reshape(len(part), 1, *dx.shape[2:]), *_numbers(at))
            continue
        parts = scratch.array("inputs", _F32, len(part), *dy.shape[2:], *kernel, channels)
        multiply(rows, turned, None, parts.reshape(len(rows), elements))
        columns.fold(parts, part, *_numbers(at))
    _narrow(sums, images)


def turns_rows(at: Geometry) -> bool:
    """Whether the windows are brought into the order of the kernels' elements, not these, as they are fewer."""
    y, w = at.y, at.w
    return not at.is_plain and math.prod(w[2:]) > 1 and w[1] > FEW_CHANNELS and y[0] * math.prod(y[2:]) < w[0]


def _narrow(sums: np.ndarray, images: np.ndarray) -> None:
    """Write float32 sums, where they are no images themselves, as images of 16 bits."""
    if sums is not images:
        (cast.to_float16 if images.dtype == _F16 else cast.to_bfloat16)(sums, images)


def weights_by_output_windows(x: np.ndarray, dy: np.ndarray, dw: np.ndarray, at: Geometry) -> None:
    """`convolution_weights` without strides from the windows of dy, which pays where it has few channels."""
    outputs, channels, *kernel = dw.shape
    windows = _rows(dy, at.turned_around())
    pixels = contiguous(_images(x)).reshape(-1, channels)
    products = scratch.array("products", dw.dtype, math.prod(kernel), outputs, channels)
    multiply(windows.T, pixels, None, products.reshape(-1, channels))
    np.copyto(dw.reshape(outputs, channels, -1), products[::-1].transpose(1, 2, 0))


def convolution_weights(x: np.ndarray, dy: np.ndarray, dw: np.ndarray, at: Geometry) -> None:
    """Write the gradient of the weight, given x (N, C, *spatial) and dy, into `dw`: row-major, x's type or float32."""
    outputs, channels, *kernel = dw.shape
    rows = _rows(x, at)
    gradients = contiguous(_images(dy)).reshape(-1, outputs).T
    places = math.prod(kernel)
    if places == 1:
        multiply(gradients, rows, None, dw.reshape(outputs, channels))
        return
    if turns_rows(at):
        multiply(gradients, _in_kernels_order(rows, dw), None, dw.reshape(outputs, -1))
        return
    products = scratch.array("products", dw.dtype, outputs, places, channels)
    multiply(gradients, rows, None, products.reshape(outputs, -1))
    _turn(products, dw.reshape(outputs, channels, places))


def _in_kernels_order(rows: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Columns whose elements lie as those of the kernels do, the channel first."""
    channels, word = w.shape[1], _WORDS[rows.itemsize]
    places = rows.shape[1] // channels
    turned = scratch.array("kernels", rows.dtype, len(rows), channels, places)
    _turn(rows.reshape(len(rows), places, channels).view(word), turned.view(word))
    return turned.reshape(len(rows), -1)


def _turn(planes: np.ndarray, out: np.ndarray) -> None:
    """Write row-major matrices (n, a, b) transposed into `out` (n, b, a)."""
    _, rows, columns = planes.shape
    if min(rows, columns) >= _LEAST_TURNED and max(rows, columns) >= _LEAST_LONG:
        copy_into(planes.transpose(0, 2, 1), out)
    else:
        interleave.interleave(planes, out)


def _numbers(at: Geometry) -> tuple:
    """Stride, zeros before the images and dilation."""
    return at.stride, tuple([before for before, _ in at.padding]), at.dilation


def _images(x: np.ndarray) -> np.ndarray:
    """A view (N, *sizes, C) of (N, C, *sizes)."""
    return x.transpose(0, *range(2, x.ndim), 1)


def _rows(x: np.ndarray, at: Geometry) -> np.ndarray:
    """The columns: a row (*kernel, C) per pixel of the result."""
    images = contiguous(_images(x))
    channels = images.shape[-1]
    sizes = at.y[2:]
    if at.is_plain:
        return images.reshape(images.shape[0] * math.prod(sizes), -1)
    shape = (images.shape[0], *sizes, *at.w[2:], channels)
    windows = scratch.array("inputs", x.dtype, *shape)
    columns.unfold(images, windows, *_numbers(at))
    return windows.reshape(images.shape[0] * math.prod(sizes), -1)


def _kernels(w: np.ndarray) -> np.ndarray:
    """The weight as a matrix: a row (*kernel, C) per output."""
    outputs, channels, *kernel = w.shape
    places, word = math.prod(kernel), _WORDS[w.itemsize]
    w = contiguous(w)
    if places == 1:
        return w.reshape(outputs, channels)
    turned = scratch.array("kernels", w.dtype, outputs, places, channels)
    _turn(w.reshape(outputs, channels, places).view(word), turned.view(word))
    return turned.reshape(outputs, -1)
