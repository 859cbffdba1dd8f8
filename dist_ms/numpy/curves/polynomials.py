"""Polynomials as rows of coefficients, the highest power first."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.numpy.arguments import FLOAT32, alike, cast, floats, integer_of, kind_type, tensor_of
from dist_ms.numpy.elementwise.arithmetic import add, subtract
from dist_ms.numpy.reducing.statistics import convolve

__all__ = ["polyadd", "polyder", "polyint", "polymul", "polysub", "polyval"]


def _row(p: Any, name: str, owner: str) -> Tensor:
    """Coefficients in one dimension."""
    p = tensor_of(p, name, owner)
    if p.ndim > 1:
        raise ValueError(f"For '{owner}', '{name}' must have 1 dimension, but got {p.ndim}.")
    return ops.reshape(p, (-1,))


def _aligned(name: str, a1: Any, a2: Any) -> list[Tensor]:
    """Two rows of coefficients of one length and type."""
    rows = alike([_row(a1, "a1", name), _row(a2, "a2", name)])
    n = max(r.size for r in rows)
    return [ops.concat((wrap(np.zeros(n - r.size, kind_type(r))), r), 0) if r.size < n else r for r in rows]


def polyadd(a1: Any, a2: Any) -> Tensor:
    """Return the sum of two polynomials.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.polyadd([1, 2], [9, 5, 4]))
        [9 6 6]
    """
    return add(*_aligned("polyadd", a1, a2))


def polysub(a1: Any, a2: Any) -> Tensor:
    """Return the difference of two polynomials."""
    return subtract(*_aligned("polysub", a1, a2))


def polymul(a1: Any, a2: Any) -> Tensor:
    """Return the product of two polynomials."""
    return convolve(_row(a1, "a1", "polymul"), _row(a2, "a2", "polymul"))


def polyval(p: Any, x: Any) -> Tensor:
    """Return the values of a polynomial, as floats.

    Args:
        p: the coefficients.
        x: where, numbers or a Tensor.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.polyval([3.0, 0.0, 1.0], 5.0))
        76.0
    """
    p, x = alike([_row(p, "p", "polyval"), tensor_of(x, "x", "polyval")])
    p, x = floats(p), floats(x)
    if p.size == 0:
        return ops.zeros_like(x)
    coefficients = [p[i] for i in range(p.size)]
    start = ops.broadcast_to(coefficients[0], x.shape)
    return functools.reduce(lambda value, c: ops.add(ops.mul(value, x), c), coefficients[1:], start)


def polyder(p: Any, m: int = 1) -> Tensor:
    """Return the `m`-th derivative of a polynomial, in the type of its coefficients.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.polyder([1, 1, 1]))
        [2 1]
    """
    if integer_of(m, "m", "polyder") < 0:
        raise ValueError(f"For 'polyder', 'm' must not be negative, but got {m}.")
    p = _row(p, "p", "polyder")
    if m >= p.size:
        return wrap(np.zeros(0, FLOAT32))
    narrow = kind_type(p).kind in "biu" and kind_type(p).itemsize < 4
    p = cast(p, np.dtype(np.int32)) if narrow else p
    for _ in range(m):
        p = ops.mul(p[: p.size - 1], wrap(np.arange(p.size - 1, 0, -1).astype(kind_type(p))))
    return p


def polyint(p: Any, m: int = 1, k: Any = None) -> Tensor:
    """Return the `m`-th integral of a polynomial.

    Args:
        p: the coefficients.
        m: how many times.
        k: the constants of integration, the first one's first; 0 by default.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.polyint([2.0, 1.0]))
        [1. 1. 0.]
    """
    if integer_of(m, "m", "polyint") < 0:
        raise ValueError(f"For 'polyint', 'm' must not be negative, but got {m}.")
    p = _row(p, "p", "polyint")
    if m == 0:
        return p
    p = floats(p)
    constants = cast(_row(0.0 if k is None else k, "k", "polyint"), kind_type(p))
    if constants.size == 1 and m > 1:
        constants = ops.broadcast_to(constants, (m,))
    if constants.size < m:
        raise ValueError(f"For 'polyint', 'k' must hold 1 constant or at least {m}, but got {constants.size}.")
    for i in range(m):
        powers = wrap(np.arange(p.size, 0, -1).astype(kind_type(p)))
        p = ops.concat((ops.div(p, powers), constants[i : i + 1]), 0)
    return p
