"""Differences of neighbours along a dimension, and areas below their values."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.checks import check_float
from dist_ms.common.error_classes import plain, raises, scalars
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import integer, one_axis, tensor
from dist_ms.ops.elementwise.arithmetic import add, mul, sub
from dist_ms.ops.shaping.reshaping import reshape

__all__ = ["diff", "trapz"]


@scalars("axis")
@raises(axis=(TypeError, IndexError), n=(TypeError, RuntimeError))
@plain("n", "axis")
def diff(x: Tensor, n: int = 1, axis: int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
    """Subtract each element along a dimension from the next one, `n` times; the result is shorter by `n`.

    Args:
        x: a Tensor with at least one dimension; n: how often.
        axis: the dimension.
        prepend: values to put before, with all dimensions.
        append: values to put behind, likewise.

    Raises:
        TypeError: if `x` is a scalar.
        IndexError: if `axis` is out of range.
        RuntimeError: if `n` is negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.diff(ms.Tensor([1, 4, 9])))
        [3 5]
    """
    if not tensor(x, "x", "diff").ndim:
        raise TypeError("For 'diff', 'x' must have at least 1 dimension, but got a scalar.")
    if prepend is not None or append is not None:
        x = ops.concat([t for t in (prepend, x, append) if t is not None], axis)
    axis = one_axis(axis, "axis", "diff", x.ndim)
    if integer(n, "n", "diff") < 0:
        raise RuntimeError(f"For 'diff', 'n' must not be negative, but got {n}.")
    lead = (slice(None),) * axis
    for _ in range(n):
        x = sub(x[(*lead, slice(1, None))], x[(*lead, slice(None, -1))])
    return x


@plain("dim")
def trapz(y: Tensor, x: Tensor | None = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """Integrate along a dimension by the trapezoidal rule.

    Args:
        y: a Tensor of values.
        x: a Tensor of the places of the values; `dx` apart without it.
        dx: the distance of the places.
        dim: the dimension.

    Returns:
        Tensor without the dimension.

    Raises:
        ValueError: if `dim` is out of range, or `x` does not fit.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.trapz(ms.Tensor([1.0, 2.0, 3.0])))
        4.0
    """
    check_float(dx, "dx", "trapz")
    if not tensor(y, "y", "trapz").ndim:
        raise ValueError("For 'trapz', 'y' must have at least 1 dimension, but got a scalar.")
    axis = one_axis(dim, "dim", "trapz", tensor(y, "y", "trapz").ndim)
    lead = (slice(None),) * axis
    pairs = add(y[(*lead, slice(1, None))], y[(*lead, slice(None, -1))])
    if x is None:
        width: Any = dx
    else:
        width = diff(x, 1, -1 if tensor(x, "x", "trapz").ndim == 1 else axis)
        if x.ndim == 1 and y.ndim > 1:
            width = reshape(width, (-1,) + (1,) * (y.ndim - axis - 1))
    return mul(ops.ReduceSum()(mul(mul(pairs, 1.0), width), axis), 0.5)
