"""max_unpool: maxima put back to where they were found, zeros elsewhere."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.common.dtype import from_numpy
from dist_ms.common.error_classes import raises, reads
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.arguments import not_of
from dist_ms.ops.convolutions.geometry import padding_pairs, per_dimension
from dist_ms.ops.pooling_windows.pooling import Pick
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.shaping.reshaping import expand_dims, squeeze

__all__ = ["max_unpool1d", "max_unpool2d", "max_unpool3d"]


class Put(Primitive):
    """Zeros of a spatial size with x (N, C, *spatial) at flat spatial indices; the last of equal ones wins."""

    keeps = ()

    def forward(self, x: np.ndarray, index: np.ndarray, sizes: tuple) -> np.ndarray:
        flat = np.zeros((*x.shape[:2], math.prod(sizes)), x.dtype)
        np.put_along_axis(flat, index.reshape(*x.shape[:2], -1), x.reshape(*x.shape[:2], -1), -1)
        return flat.reshape(*x.shape[:2], *sizes)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return Pick()(dout, inputs[1]), None, None


def _sizes(owner: str, sizes: tuple, kernel: tuple, stride: tuple, padding: tuple, wanted: Any) -> tuple:
    """The spatial size of the result: the smallest that pools to `sizes`, or the one wanted."""
    default = tuple([(n - 1) * s - 2 * p[0] + k for n, k, s, p in zip(sizes, kernel, stride, padding)])
    if wanted is None:
        return default
    given = arguments.integers(wanted, "output_size", owner)[-len(sizes) :]
    if len(given) != len(sizes) or any(abs(n - d) >= s for n, d, s in zip(given, default, stride)):
        raise ValueError(
            complaint("output_size", owner, f"{default} or less than 'stride' {stride} away from it", wanted)
        )
    return given


def _unpool(
    owner: str, rank: int, x: Any, indices: Any, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> Tensor:
    shape = arguments.tensor(x, "x", owner).shape
    index = arguments.tensor(indices, "indices", owner).array()
    if index.dtype not in (np.int32, np.int64):
        raise TypeError(
            f"For '{owner}', 'indices' must be Int32 or Int64, but got {from_numpy(index.dtype)}; cast them first."
        )
    if len(shape) not in (rank + 1, rank + 2) or index.shape != shape:
        raise ValueError(
            f"For '{owner}', 'x' and 'indices' must have one shape of {rank + 1} or {rank + 2} "
            f"dimensions, but got {shape} and {index.shape}."
        )
    kernel = per_dimension(kernel_size, rank, "kernel_size", owner, ValueError)
    stride = kernel if stride in (None, 0) else per_dimension(stride, rank, "stride", owner, ValueError)
    padding = padding_pairs(padding, rank, "padding", owner, symmetric=True)
    sizes = _sizes(owner, shape[-rank:], kernel, stride, padding, output_size)
    if min(sizes) < 1:
        raise ValueError(f"For '{owner}', the output must have elements, but its size would be {sizes}.")
    if index.size and not (index.min() >= 0 and index.max() < math.prod(sizes)):
        raise RuntimeError(
            f"For '{owner}', 'indices' must be in [0, {math.prod(sizes)}) for the output size {sizes}, "
            f"but got values from {index.min()} to {index.max()}."
        )
    if len(shape) == rank + 2:
        return Put()(x, index, sizes)
    return squeeze(Put()(expand_dims(x, 0), index[None], sizes), 0)


def no_flags(owner: str, **numbers: Any) -> None:
    """Refuse bools, which Python takes for ints.

    Raises:
        ValueError: if one is a bool.
    """
    for name, value in numbers.items():
        if isinstance(value, bool):
            raise ValueError(complaint(name, owner, "an int or a tuple of one", value))


@raises(output_size=ValueError)
@reads(indices="expand_dims")
def max_unpool1d(
    x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Put the maxima of windows over the last dimension back; see `max_unpool2d`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.max_unpool1d(ms.Tensor([[[5.0, 6.0]]]), ms.Tensor([[[0, 3]]]), 2))
        [[[5. 0. 0. 6.]]]
    """
    not_of(x, "?FD", "x", "max_unpool1d")
    no_flags("max_unpool1d", kernel_size=kernel_size, stride=stride, padding=padding)
    return _unpool("max_unpool1d", 1, x, indices, kernel_size, stride, padding, output_size)


@raises(output_size=ValueError)
def max_unpool2d(
    x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Put the maxima `max_pool2d` found back to where they were, with zeros elsewhere.

    A length n becomes (n - 1) stride - 2 padding + kernel_size.

    Args:
        x: the maxima, (N, C, H, W) or (C, H, W).
        indices: their flat indices in the result's (H, W) plane, int32 or int64.
        kernel_size: an int or a tuple (height, width).
        stride: an int or a tuple; None for `kernel_size`.
        padding: an int or a tuple.
        output_size: the size of the result, if several pool to the size of `x`; or None.

    Returns:
        Tensor (N, C, H', W').

    Raises:
        TypeError: if `indices` holds no int32 or int64, or a number is no int.
        ValueError: if the shapes differ, or a number is out of range.
        RuntimeError: if an index is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.max_unpool2d(ms.Tensor([[[5.0]]]), ms.Tensor([[[3]]]), 2))
        [[[0. 0.]
          [0. 5.]]]
    """
    not_of(x, "?FD", "x", "max_unpool2d")
    return _unpool("max_unpool2d", 2, x, indices, kernel_size, stride, padding, output_size)


@raises(output_size=ValueError)
def max_unpool3d(
    x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Put the maxima of windows over the last three dimensions back; see `max_unpool2d`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.max_unpool3d(ms.Tensor([[[[5.0]]]]), ms.Tensor([[[[3]]]]), 2).shape
        (1, 2, 2, 2)
    """
    not_of(x, "?FD", "x", "max_unpool3d")
    return _unpool("max_unpool3d", 3, x, indices, kernel_size, stride, padding, output_size)
