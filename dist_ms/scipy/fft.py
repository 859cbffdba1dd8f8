"""Cosine transforms of the second kind, and back. They are orthogonal whether or not `norm` says so, as MindSpore's."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_choice
from dist_ms.common.dtype import float32
from dist_ms.common.tensor import Tensor
from dist_ms.ops import Primitive
from dist_ms.ops.arguments import integer, integers, many_axes, one_axis, tensor
from dist_ms.ops.kernels import fft as fft_of_arrays
from dist_ms.ops.signals.fourier import Fit

__all__ = ["dct", "dctn", "idct", "idctn"]


class CosineTransform(Primitive):
    """The orthogonal cosine transform along some dimensions: its way back is its adjoint."""

    keeps = ()

    def __init__(self, axes: tuple, inverse: bool) -> None:
        self.axes, self.inverse = axes, inverse

    def forward(self, x: np.ndarray) -> np.ndarray:
        return (fft_of_arrays.idctn if self.inverse else fft_of_arrays.dctn)(x, axes=self.axes, norm="ortho")

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return CosineTransform(self.axes, not self.inverse)(dout)


def _transformed(name: str, x: Any, kind: Any, sizes: tuple | None, axes: tuple, norm: Any) -> Tensor:
    """One transform of the four, of lengths that None leaves as they are."""
    if integer(kind, "type", name) != 2:
        raise ValueError(f"For '{name}', 'type' must be 2, but got {kind}.")
    check_choice(norm, "norm", name, (None, "ortho"))
    d = x.array().dtype
    if d.kind == "b":
        raise TypeError(f"For '{name}', the dtype of 'x' must be of numbers, but got {x.dtype}.")
    if d.kind not in "fc" or d.itemsize == 2:
        x = ops.cast(x, float32)
    before = tuple(x.shape[a] for a in axes)
    sizes = before if sizes is None else sizes
    if any(size < 1 for size in sizes):
        raise ValueError(f"For '{name}', the lengths transformed must be positive, but got {sizes}.")
    return CosineTransform(axes, name[0] == "i")(x if sizes == before else Fit(axes, sizes)(x))


def _along(name: str, x: Any, kind: Any, n: Any, axis: Any, norm: Any) -> Tensor:
    """A transform along one dimension."""
    axes = (one_axis(axis, "axis", name, len(tensor(x, "x", name).shape)),)
    return _transformed(name, x, kind, None if n is None else (integer(n, "n", name),), axes, norm)


def _over(name: str, x: Any, kind: Any, s: Any, axes: Any, norm: Any) -> Tensor:
    """A transform over several dimensions: without `axes` the last ones that have lengths, or all."""
    ndim = len(tensor(x, "x", name).shape)
    sizes = None if s is None else integers(s, "s", name)
    if sizes is not None and axes is None:
        axes = tuple(range(-len(sizes), 0))
    axes = many_axes(axes, "axes", name, ndim)
    if sizes is not None and len(sizes) != len(axes):
        raise ValueError(f"For '{name}', 's' and 'axes' must be equally long, but got {sizes} and {axes}.")
    return _transformed(name, x, kind, sizes, axes, norm)


def dct(x: Tensor, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """Transform to the sum of cosines along a dimension.

    Args:
        x: a Tensor of numbers; integers and float16 are made float32 first.
        type: 2.
        n: length that the dimension is cut or filled with zeros to; None (default) for its own.
        axis: dimension.
        norm: "ortho" or None, which means the same.

    Raises:
        ValueError: if `type`, `n` or `norm` is any other.
        TypeError: if `x` is no Tensor of numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.scipy.fft.dct(ms.Tensor([1.0, 2.0, 3.0, 4.0])).asnumpy().round(4))
        [ 5.     -2.2304  0.     -0.1585]
    """
    return _along("dct", x, type, n, axis, norm)


def idct(x: Tensor, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """Undo `dct`, with the same arguments.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.scipy.fft.idct(ms.scipy.fft.dct(ms.Tensor([1.0, 2.0, 3.0, 4.0]))).asnumpy().round(4))
        [1. 2. 3. 4.]
    """
    return _along("idct", x, type, n, axis, norm)


def dctn(x: Tensor, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """Transform to sums of cosines along several dimensions.

    Args:
        x: a Tensor of numbers; integers and float16 are made float32 first.
        type: 2.
        s: lengths that the dimensions are cut or filled with zeros to; None (default) for their own.
        axes: dimensions; None (default) for the last ones that `s` has lengths for, or all.
        norm: "ortho" or None, which means the same.

    Raises:
        ValueError: if `type` or `norm` is any other, or `s` does not fit `axes`.
        TypeError: if `x` is no Tensor of numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.scipy.fft.dctn(ms.Tensor([[1.0, 1.0], [1.0, 1.0]])).asnumpy().round(4))
        [[2. 0.]
         [0. 0.]]
    """
    return _over("dctn", x, type, s, axes, norm)


def idctn(x: Tensor, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None) -> Tensor:
    """Undo `dctn`, with the same arguments.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.scipy.fft.idctn(ms.Tensor([[2.0, 0.0], [0.0, 0.0]])).asnumpy().round(4))
        [[1. 1.]
         [1. 1.]]
    """
    return _over("idctn", x, type, s, axes, norm)
