"""Maximum and mean over sliding windows, and their transposes, for 1 to 3 spatial dimensions."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from dist_ms._ext.tape import Kept, wanted
from dist_ms.autograd.tape import apply
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.capabilities import capabilities
from dist_ms.ops.convolutions.windows import (
    Pairs,
    add_windows,
    ceil_padding,
    output_sizes,
    same_padding,
    windows,
)
from dist_ms.ops.kernels import axis_reduction, dnnl, window_maxima
from dist_ms.ops.layout import channels_last, contiguous, converted, dense, onednn_type, working_type
from dist_ms.ops.primitive import Primitive

__all__ = []

_F32 = np.dtype(np.float32)
# Means over windows of at least this many rows and columns are taken by two reductions of these types.
_LEAST_WINDOW = 4
_WIDE = (_F32, np.dtype(np.float64))
_MOST_SHAPES = 64  # of inputs, whose geometry a pooling remembers


@dataclasses.dataclass(frozen=True)
class Pool:
    """Where the windows lie: an int per spatial dimension, `padding` None for "same".

    `size_error` is what an input smaller than the kernel raises.
    """

    kernel: tuple
    stride: tuple
    padding: Pairs | None
    dilation: tuple
    ceil_mode: bool = False
    owner: str = "Pooling"
    size_error: type = ValueError
    _known: dict = dataclasses.field(default_factory=dict, compare=False, repr=False)

    def placed(self, shape: tuple) -> tuple[Pairs, tuple]:
        """The padding for an input of this shape and the number of windows."""
        found = self._known.get(shape)
        if found is None:
            if len(self._known) >= _MOST_SHAPES:
                self._known.clear()
            found = self._known[shape] = self._place(shape)
        return found

    def _place(self, shape: tuple) -> tuple[Pairs, tuple]:
        rank, sizes = len(self.kernel), shape[2:]
        if len(shape) != rank + 2:
            raise ValueError(f"For '{self.owner}', the input must have {rank + 2} dimensions, but got shape {shape}.")
        padding = self.padding
        if padding is None:
            padding = same_padding(sizes, self.kernel, self.stride, self.dilation)
        if self.ceil_mode:
            padding = ceil_padding(sizes, self.kernel, self.stride, padding, self.dilation)
        counts = output_sizes(sizes, self.kernel, self.stride, padding, self.dilation)
        if min(counts) <= 0 or 0 in sizes:
            raise self.size_error(
                f"For '{self.owner}', the padded input must be at least as large as 'kernel_size' "
                f"{self.kernel}, but got shape {shape}, padding {padding}, dilation {self.dilation}."
            )
        return padding, counts

    def check_padding(self) -> Pool:
        """Require padding of at most half the kernel, so that every window has an element."""
        for (before, after), k in zip(self.padding or (), self.kernel):
            if max(before, after) > k // 2:
                raise ValueError(
                    f"For '{self.owner}', 'padding' must be at most half of 'kernel_size' {self.kernel}, "
                    f"but got {self.padding}."
                )
        return self


class MaxPooling(Primitive):
    """The maximum of each window."""

    keeps = (0,)

    def __init__(self, pool: Pool) -> None:
        self.name, self._pool = pool.owner, pool

    def __call__(self, x: Tensor) -> Tensor:
        return apply(self, x, Kept())

    def forward(self, x: Any, kept: Kept) -> np.ndarray:
        arguments.floating(x, "input", self.name, complex_too=False)
        padding, counts = self._pool.placed(x.shape)
        work = onednn_type(x.dtype)
        if work is None or any(step > 1 for step in self._pool.dilation):  # oneDNN has plain loops for these.
            out, kept.value = _maxima(x, self._pool, padding, counts)
            return out
        out = channels_last((*x.shape[:2], *counts), work)
        kept.value = dnnl.pool_forward(
            "max", dense(x, work), out, self._pool.kernel, self._pool.stride, padding, self._pool.dilation
        )
        return converted(out, x.dtype)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return MaxPoolGrad(self._pool)(dout, inputs[0], inputs[1].value), None


class MaxPoolGrad(Primitive):
    """The gradient of `MaxPooling`: each window's goes to its first maximum.

    `places` is what the forward left: flat spatial indices, or oneDNN's own notes (uint8).
    """

    keeps = (0, 1)

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def forward(self, dy: np.ndarray, x: np.ndarray, places: np.ndarray) -> np.ndarray:
        work = onednn_type(dy.dtype)
        if places.dtype == np.uint8 and work == _F32 and not capabilities().avx2:
            # oneDNN's takes 3 to 9 times as long as to look for the maxima once more.
            places = _maxima(x, self._pool, *self._pool.placed(x.shape))[1]
        if places.dtype != np.uint8:
            return _spread(dy, places, x.shape)
        padding, _ = self._pool.placed(x.shape)
        dx = channels_last(x.shape, work)
        dnnl.pool_backward(
            "max", dense(dy, work), dx, places, self._pool.kernel, self._pool.stride, padding, self._pool.dilation
        )
        return converted(dx, dy.dtype)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        dy, x, places = inputs
        if not wanted(dy):
            return None, None, None
        if places.dtype == np.uint8:
            places = _maxima(x.array(), self._pool, *self._pool.placed(x.shape))[1]
        return Pick()(dout, places), None, None


class MaxPoolingWithIndices(Primitive):
    """The maximum of each window and its flat spatial index (int64)."""

    keeps = ()
    keeps_output = True

    def __init__(self, pool: Pool) -> None:
        self.name, self._pool = pool.owner, pool

    def forward(self, x: Any) -> tuple:
        arguments.floating(x, "input", self.name, complex_too=False)
        return _maxima(x, self._pool, *self._pool.placed(x.shape))

    def gradient(self, inputs: tuple, output: tuple, dout: tuple) -> Tensor:
        return Spread()(dout[0], output[1].array(), inputs[0].shape)


class Pick(Primitive):
    """x at flat spatial indices (N, C, *output)."""

    keeps = ()

    def forward(self, x: np.ndarray, index: np.ndarray) -> np.ndarray:
        flat = x.reshape(*x.shape[:2], math.prod(x.shape[2:]))
        places = index.reshape(*index.shape[:2], math.prod(index.shape[2:]))
        return np.take_along_axis(flat, places, -1).reshape(index.shape)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return Spread()(dout, inputs[1], inputs[0].shape), None


class Spread(Primitive):
    """The transpose of `Pick`: zeros of a shape, with dy added at the indices."""

    keeps = ()

    def forward(self, dy: np.ndarray, index: np.ndarray, shape: tuple) -> np.ndarray:
        return _spread(dy, index, shape)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return Pick()(dout, inputs[1]), None, None


def _side_by_side_means(x: np.ndarray, kernel: tuple) -> np.ndarray | None:
    """The means of windows that cover an image without overlapping, where plain reductions are faster; else None."""
    sizes = x.shape[2:]
    if sizes == kernel:
        return axis_reduction.reduce_axes(x, tuple(range(2, x.ndim)), "mean", True)
    large = len(sizes) == 2 and min(kernel) >= _LEAST_WINDOW and x.dtype in _WIDE
    if not large or not x.flags.c_contiguous or not x.size or sizes[0] % kernel[0] or sizes[1] % kernel[1]:
        return None
    strips = x.reshape(-1, kernel[0], sizes[1])
    rows = axis_reduction.reduce_axes(strips, (1,), "mean").reshape(-1, kernel[1])
    counts = sizes[0] // kernel[0], sizes[1] // kernel[1]
    return axis_reduction.reduce_axes(rows, (1,), "mean").reshape(*x.shape[:2], *counts)


class AvgPooling(Primitive):
    """The mean of each window.

    Args:
        pool: where the windows lie.
        count_padding: count the padding (not what ceil mode adds to it) in the mean.
        divisor: divide by this instead of the number of elements; 0 not to.
    """

    keeps = ()

    def __init__(self, pool: Pool, count_padding: bool, divisor: int = 0) -> None:
        self.name, self._pool, self._count_padding, self._divisor = pool.owner, pool, count_padding, divisor

    def forward(self, x: Any) -> np.ndarray:
        arguments.floating(x, "input", self.name, complex_too=False)
        pool = self._pool
        padding, counts = pool.placed(x.shape)
        if pool.kernel == pool.stride and not self._divisor and not any(map(any, padding)):
            average = _side_by_side_means(x, pool.kernel)
            if average is not None:
                return average
        work = onednn_type(x.dtype)
        if work is None:
            axes = tuple(range(2 + len(counts), 2 + 2 * len(counts)))
            total = windows(x, pool.kernel, pool.stride, padding, pool.dilation).sum(axis=axes)
            return total / self._divisors(x.shape[2:], counts)
        kind, scale = self._kernel(x.shape[2:], padding, counts)
        out = channels_last((*x.shape[:2], *counts), work)
        dnnl.pool_forward(kind, dense(x, work), out, pool.kernel, pool.stride, padding, pool.dilation)
        if scale is not None:
            out = (out * scale).astype(work, copy=False)
        return converted(out, x.dtype)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return AvgPoolGrad(self)(dout, inputs[0].shape)

    def transposed(self, dy: np.ndarray, shape: tuple) -> np.ndarray:
        """The gradient of the input, given that of the output."""
        pool = self._pool
        padding, counts = pool.placed(shape)
        work = onednn_type(dy.dtype)
        if work is None:
            share = dy / self._divisors(shape[2:], counts)
            parts = np.broadcast_to(share[(..., *(None,) * len(counts))], (*share.shape, *pool.kernel))
            return add_windows(parts, shape, pool.kernel, pool.stride, padding, pool.dilation)
        kind, scale = self._kernel(shape[2:], padding, counts)
        dx = channels_last(shape, work)
        dnnl.pool_backward(
            kind,
            dense(dy if scale is None else dy * scale, work),
            dx,
            None,
            pool.kernel,
            pool.stride,
            padding,
            pool.dilation,
        )
        return converted(dx, dy.dtype)

    def _kernel(self, sizes: tuple, padding: Pairs, counts: tuple) -> tuple:
        """oneDNN's kind of mean, and what to multiply it by to get ours."""
        if not self._count_padding and not self._divisor:
            return "avg", None
        if not self._divisor and (not self._pool.ceil_mode or padding == self._pool.padding):
            return "avg_padded", None
        return "avg_padded", (math.prod(self._pool.kernel) / self._divisors(sizes, counts)).astype(_F32)

    def _divisors(self, sizes: tuple, counts: tuple) -> np.ndarray:
        """What each window's sum is divided by."""
        if self._divisor:
            return np.asarray(float(self._divisor))
        pool = self._pool
        given = pool.padding or same_padding(sizes, pool.kernel, pool.stride, pool.dilation)
        total = np.ones((1,) * len(sizes))
        for axis, (n, k, s, pair, count) in enumerate(zip(sizes, pool.kernel, pool.stride, given, counts)):
            first, last = (-pair[0], n + pair[1]) if self._count_padding else (0, n)
            start = np.arange(count) * s - pair[0]
            inside = np.minimum(start + k, last) - np.maximum(start, first)
            total = total * inside.reshape([-1 if i == axis else 1 for i in range(len(sizes))])
        return total


class AvgPoolGrad(Primitive):
    """The transpose of an `AvgPooling`."""

    keeps = ()

    def __init__(self, forward: AvgPooling) -> None:
        self._forward = forward

    def forward(self, dy: np.ndarray, shape: tuple) -> np.ndarray:
        return self._forward.transposed(dy, shape)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return self._forward(dout), None


def _maxima(x: np.ndarray, pool: Pool, padding: Pairs, counts: tuple) -> tuple[np.ndarray, np.ndarray]:
    """The maxima (N, C, *counts) and their flat spatial indices; the first of equal ones wins."""
    axes = x.ndim - 2
    if axes > 1 and x.shape[-1] == counts[-1] == pool.kernel[-1] == 1 and not padding[-1][0]:
        # A column is a row, which is one loop.
        axes -= 1
    planes = contiguous(x, working_type(x.dtype)).reshape(x.shape[0] * x.shape[1], *x.shape[2 : 2 + axes])
    out, places = (np.empty((len(planes), *counts[:axes]), dtype) for dtype in (planes.dtype, np.int64))
    before = tuple([pair[0] for pair in padding[:axes]])
    windows = (tuple(numbers[:axes]) for numbers in (pool.kernel, pool.stride))
    window_maxima.forward(planes, out, places, *windows, before, tuple(pool.dilation[:axes]))
    shape = (*x.shape[:2], *counts)
    return converted(out, x.dtype).reshape(shape), places.reshape(shape)


def _spread(dy: np.ndarray, index: np.ndarray, shape: tuple) -> np.ndarray:
    """Zeros of `shape` (N, C, *spatial) with dy added at flat spatial indices."""
    work, planes = working_type(dy.dtype), shape[0] * shape[1]
    count, size = math.prod(dy.shape[2:]), math.prod(shape[2:])
    dx = np.empty((planes, size), work)
    places = contiguous(index, np.dtype(np.int64)).reshape(planes, count)
    window_maxima.spread(contiguous(dy, work).reshape(planes, count), places, dx)
    return converted(dx, dy.dtype).reshape(shape)
