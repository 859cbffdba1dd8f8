"""Sliding windows over spatial dimensions: how many, where, and as NumPy arrays.

Convolution and pooling share the geometry. The array functions are the path of the types
that oneDNN's kernels do not take; float64 gradient checks run through them.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

Pairs = tuple[tuple[int, int], ...]


def span(kernel: int, dilation: int) -> int:
    """How far a window reaches."""
    return (kernel - 1) * dilation + 1


def same_padding(sizes: tuple, kernel: tuple, stride: tuple, dilation: tuple) -> Pairs:
    """The (before, after) zeros with which the output has ceil(size / stride) elements."""
    pairs = []
    for n, k, s, d in zip(sizes, kernel, stride, dilation):
        missing = max((-(-n // s) - 1) * s + span(k, d) - n, 0)
        pairs.append((missing // 2, missing - missing // 2))
    return tuple(pairs)


def ceil_padding(sizes: tuple, kernel: tuple, stride: tuple, padding: Pairs, dilation: tuple) -> Pairs:
    """The padding that makes the last, partly filled window a full one.

    A window must start inside the array or the padding before it.
    """
    pairs = []
    for n, k, s, (before, after), d in zip(sizes, kernel, stride, padding, dilation):
        room = n + before + after - span(k, d)
        count = -(-room // s) + 1
        if (count - 1) * s >= n + before:
            count -= 1
        pairs.append((before, max((count - 1) * s + span(k, d) - n - before, after)))
    return tuple(pairs)


@functools.lru_cache(256)
def output_sizes(sizes: tuple, kernel: tuple, stride: tuple, padding: Pairs, dilation: tuple) -> tuple:
    """How many windows fit per spatial dimension; 0 or less if none does."""
    return tuple(
        [
            (n + p[0] + p[1] - (k - 1) * d - 1) // s + 1
            for n, k, s, p, d in zip(sizes, kernel, stride, padding, dilation)
        ]
    )


def padded(x: np.ndarray, padding: Pairs, fill: Any = 0) -> np.ndarray:
    """`x` (N, C, *spatial) with `fill` around its spatial dimensions."""
    if not any(itertools.chain(*padding)):
        return x
    return np.pad(x, ((0, 0), (0, 0), *padding), constant_values=fill)


def windows(x: np.ndarray, kernel: tuple, stride: tuple, padding: Pairs, dilation: tuple, fill: Any = 0) -> np.ndarray:
    """A view (N, C, *output, *kernel) of the padded `x`: the elements of each window."""
    x = padded(x, padding, fill)
    axes = tuple(range(2, x.ndim))
    reach = tuple([span(k, d) for k, d in zip(kernel, dilation)])
    view = np.lib.stride_tricks.sliding_window_view(x, reach, axes)
    steps = [slice(None, None, s) for s in (*stride, *dilation)]
    return view[(slice(None), slice(None), *steps)]


def add_windows(
    parts: np.ndarray, shape: tuple, kernel: tuple, stride: tuple, padding: Pairs, dilation: tuple
) -> np.ndarray:
    """The transpose of `windows`: an array of `shape` with the elements of all windows added."""
    full = (*shape[:2], *[n + before + after for n, (before, after) in zip(shape[2:], padding)])
    total = np.zeros(full, parts.dtype)
    counts = parts.shape[2 : 2 + len(kernel)]
    for place in itertools.product(*[range(k) for k in kernel]):
        where = [slice(i * d, i * d + (c - 1) * s + 1, s) for i, d, c, s in zip(place, dilation, counts, stride)]
        total[(slice(None), slice(None), *where)] += parts[(..., *place)]
    inside = [slice(before, before + n) for n, (before, _) in zip(shape[2:], padding)]
    return total[(slice(None), slice(None), *inside)]
