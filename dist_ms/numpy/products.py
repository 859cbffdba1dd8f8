"""Products of vectors and matrices, and norms."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.numpy.arguments import (
    FLOAT32,
    alike,
    axes_of,
    axis_of,
    cast,
    is_float,
    kind_type,
    strict,
    strict_all,
    tensor_of,
    typed,
)
from dist_ms.ops.linear_algebra.products import matrix_power

__all__ = ["cross", "dot", "inner", "kron", "matmul", "matrix_power", "multi_dot", "norm", "outer", "tensordot"]


def _same_numbers(name: str, a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """Two tensors of one type of numbers, which MindSpore's products need."""
    a, b = strict(a, "a", name), strict(b, "b", name)
    if a.dtype != b.dtype:
        raise TypeError(f"For '{name}', both Tensors must have one dtype, but got {a.dtype} and {b.dtype}: cast one.")
    if kind_type(a).kind == "b":
        raise TypeError(f"For '{name}', the Tensors must hold numbers, but got {a.dtype}.")
    return a, b


def _contracted(name: str, a: Tensor, b: Tensor, axes: Any) -> Tensor:
    """The sums of products over pairs of axes."""
    try:
        return ops.tensor_dot(a, b, axes)
    except ValueError:
        raise ValueError(
            f"For '{name}', the axes to sum over must have equal lengths, but got the shapes {a.shape} and {b.shape}."
        ) from None


def matmul(x1: Tensor, x2: Tensor, dtype: Any = None) -> Tensor:
    """Return the matrix product; leading axes broadcast, vectors are rows on the left, columns on the right."""
    return typed(ops.matmul(*_same_numbers("matmul", x1, x2)), dtype)


def dot(a: Tensor, b: Tensor) -> Tensor:
    """Return the sums of products over the last axis of `a` and the last but one (or only) of `b`.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.dot(mnp.ones((1, 3)), mnp.ones((2, 3, 4))).shape)
        (1, 2, 4)
    """
    a, b = _same_numbers("dot", a, b)
    if a.ndim == 0 or b.ndim == 0:
        return ops.mul(a, b)
    return _contracted("dot", a, b, ((a.ndim - 1,), (max(b.ndim - 2, 0),)))


def inner(a: Tensor, b: Tensor) -> Tensor:
    """Return the sums of products over the last axes."""
    a, b = _same_numbers("inner", a, b)
    if a.ndim == 0 or b.ndim == 0:
        return ops.mul(a, b)
    return _contracted("inner", a, b, ((a.ndim - 1,), (b.ndim - 1,)))


def outer(a: Tensor, b: Tensor) -> Tensor:
    """Return the products of each element of `a` (rows) with each of `b` (columns)."""
    a, b = _same_numbers("outer", a, b)
    return ops.mul(ops.reshape(a, (-1, 1)), ops.reshape(b, (1, -1)))


def tensordot(a: Tensor, b: Tensor, axes: Any = 2) -> Tensor:
    """Return the sums of products over several axes.

    Args:
        a: a Tensor.
        b: a Tensor of the same dtype.
        axes: how many, the last of `a` with the first of `b`; or two sequences of axes.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.tensordot(mnp.ones((3, 4, 5)), mnp.ones((4, 3, 2)), axes=([1, 0], [0, 1])).shape)
        (5, 2)
    """
    a, b = _same_numbers("tensordot", a, b)
    return _contracted("tensordot", a, b, axes)


def kron(a: Any, b: Any) -> Tensor:
    """Return the Kronecker product: each element of `a` times the whole `b`.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.kron([1, 10], [5, 6]))
        [ 5  6 50 60]
    """
    a, b = alike([tensor_of(a, "a", "kron"), tensor_of(b, "b", "kron")])
    ndim = max(a.ndim, b.ndim)
    first, second = (1,) * (ndim - a.ndim) + a.shape, (1,) * (ndim - b.ndim) + b.shape
    wide = ops.reshape(a, tuple(m for n in first for m in (n, 1)))
    product = ops.mul(wide, ops.reshape(b, tuple(m for n in second for m in (1, n))))
    return ops.reshape(product, tuple(n * m for n, m in zip(first, second, strict=True)))


def multi_dot(arrays: Any) -> Tensor:
    """Return the product of several matrices, computed in the cheapest order; the ends may be vectors."""
    tensors = strict_all(arrays, "arrays", "multi_dot")
    if len(tensors) < 2:
        raise ValueError(f"For 'multi_dot', 'arrays' must hold at least 2 Tensors, but got {len(tensors)}.")
    row, column = tensors[0].ndim == 1, tensors[-1].ndim == 1
    tensors[0] = ops.reshape(tensors[0], (1, -1)) if row else tensors[0]
    tensors[-1] = ops.reshape(tensors[-1], (-1, 1)) if column else tensors[-1]
    sizes = [tensors[0].shape[0], *[t.shape[1] for t in tensors]]

    @functools.cache
    def cheapest(i: int, j: int) -> tuple[int, int]:
        """The cost of the product of matrices i to j, and before which one to cut it."""
        if i == j:
            return 0, i
        cuts = range(i + 1, j + 1)
        return min((cheapest(i, k - 1)[0] + cheapest(k, j)[0] + sizes[i] * sizes[k] * sizes[j + 1], k) for k in cuts)

    def product(i: int, j: int) -> Tensor:
        if i == j:
            return tensors[i]
        k = cheapest(i, j)[1]
        return matmul(product(i, k - 1), product(k, j))

    result = product(0, len(tensors) - 1)
    return ops.reshape(result, result.shape[int(row) : 2 - int(column)])


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Tensor:
    """Return the cross products of vectors of 2 or 3 elements; two vectors of 2 give a number.

    Args:
        a: the first vectors.
        b: the second vectors.
        axisa: the axis of `a` along which they lie.
        axisb: that of `b`.
        axisc: that of the result.
        axis: all three of them.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.cross([1, 2, 3], [4, 5, 6]))
        [-3  6 -3]
    """
    a, b = alike([tensor_of(a, "a", "cross"), tensor_of(b, "b", "cross")])
    axisa, axisb, axisc = (axis,) * 3 if axis is not None else (axisa, axisb, axisc)
    a, b = [_last(t, axis_of("cross", i, t.ndim)) for t, i in ((a, axisa), (b, axisb))]
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError(f"For 'cross', the vectors must have 2 or 3 elements, but got {a.shape[-1]}, {b.shape[-1]}.")
    flat = a.shape[-1] == b.shape[-1] == 2
    zero = wrap(np.zeros((), kind_type(a)))
    x1, y1, z1 = [a[..., i] if i < a.shape[-1] else zero for i in range(3)]
    x2, y2, z2 = [b[..., i] if i < b.shape[-1] else zero for i in range(3)]
    third = ops.sub(ops.mul(x1, y2), ops.mul(y1, x2))
    if flat:
        return third
    first, second = ops.sub(ops.mul(y1, z2), ops.mul(z1, y2)), ops.sub(ops.mul(z1, x2), ops.mul(x1, z2))
    return ops.stack((first, second, third), axis_of("cross", axisc, third.ndim + 1))


def _last(t: Tensor, axis: int) -> Tensor:
    """The tensor with one axis moved to the end."""
    return ops.transpose(t, (*[i for i in range(t.ndim) if i != axis], axis))


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Return the norms of vectors (one axis) or matrices (two), or of all elements together.

    Args:
        x: a Tensor or numbers.
        ord: None or "fro" for the root of the sum of squares; for vectors any number, inf, -inf, 0 (how many are
            not 0); for matrices 1, -1, inf, -inf.
        axis: one axis or two.
        keepdims: keep the axes with length 1.

    Raises:
        NotImplementedError: for the norms of matrices by singular values, which MindSpore has not.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.norm(mnp.array([3.0, 4.0])))
        5.0
    """
    x = tensor_of(x, "x", "norm")
    x = x if is_float(x) and kind_type(x).itemsize >= 4 else cast(x, FLOAT32)
    axes = axes_of("norm", axis, x.ndim)
    if ord is None or (ord == "fro" and len(axes) == 2) or (ord == 2 and len(axes) == 1):
        return ops.sqrt(ops.sum(ops.square(x), axes, keepdims))
    size = ops.abs(x)
    if len(axes) == 1:
        return _of_vectors(size, ord, axes, keepdims)
    if len(axes) != 2:
        raise ValueError(f"For 'norm', 'axis' must name 1 or 2 axes when 'ord' is given, but got {len(axes)}.")
    if ord in ("nuc", 2, -2):
        raise NotImplementedError(f"For 'norm', 'ord' {ord} of matrices does not exist in MindSpore either.")
    if ord not in (1, -1, np.inf, -np.inf):
        raise ValueError(f"For 'norm', 'ord' of matrices must be 'fro', 1, -1, inf or -inf, but got {ord}.")
    along, rest = (axes[0], axes[1]) if abs(ord) == 1 else (axes[1], axes[0])
    sums = ops.sum(size, along, True)
    result = (ops.amax if ord > 0 else ops.amin)(sums, rest, True)
    return result if keepdims else ops.reshape(result, tuple(n for i, n in enumerate(x.shape) if i not in axes))


def _of_vectors(size: Tensor, ord: Any, axes: tuple, keepdims: bool) -> Tensor:
    """The norm of vectors of absolute values."""
    if isinstance(ord, str):
        raise ValueError(f"For 'norm', 'ord' of vectors must be a number, but got {ord!r}.")
    if abs(ord) == np.inf:
        return (ops.amax if ord > 0 else ops.amin)(size, axes, keepdims)
    if ord == 0:
        return ops.sum(cast(ops.not_equal(size, 0), kind_type(size)), axes, keepdims)
    return ops.pow(ops.sum(ops.pow(size, ord), axes, keepdims), 1.0 / ord)
