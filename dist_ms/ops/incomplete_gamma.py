"""The regularised incomplete gamma functions P(a, x) = 1 - Q(a, x), and their gradients.

P by its power series where x < a + 1, Q by its continued fraction elsewhere (Abramowitz and
Stegun, 6.5.29 and 6.5.31). The derivative in a comes from the same sums with a + ih instead of a:
its imaginary part over h, exact to rounding (Squire and Trapp, "Using Complex Variables to
Estimate Derivatives of Real Functions", 1998).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.dtype import from_numpy
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.broadcasting import reduce_to
from dist_ms.ops.gamma_functions import digamma_array, lgamma_array
from dist_ms.ops.primitive import Primitive, quiet
from dist_ms.ops.vjp import wanted

__all__ = ["Igamma", "Igammac", "igamma", "igammac"]

_EPS = np.finfo(np.float64).eps
_TINY = 1e-300
_STEP = 1e-100


def _series(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The sum over n of x^n / (a (a + 1) ... (a + n))."""
    term = 1 / a
    total, n = term.copy(), 0
    while (np.abs(term) > _EPS * np.abs(total)).any():
        n += 1
        term = term * (x / (a + n))
        total += term
    return total


def _fraction(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / ...)), by Lentz's method."""
    b = x + 1 - a
    c, d = np.full_like(b, 1 / _TINY), 1 / b
    total, ratio, i = d.copy(), np.zeros_like(b), 0
    while (np.abs(ratio - 1) > 2 * _EPS).any():
        i += 1
        numerator = -i * (i - a)
        b = b + 2
        d = 1 / (numerator * d + b)
        c = b + numerator / c
        ratio = c * d
        total *= ratio
    return total


@quiet
def gamma_ratio(a: np.ndarray, x: np.ndarray, upper: bool, derivative: bool = False) -> np.ndarray:
    """P(a, x), or Q with `upper`, of float64 arrays of one shape; or its derivative in a."""
    out = np.full(x.shape, np.nan)
    known = (a > 0) & (x >= 0) & np.isfinite(a) & ~np.isnan(x)
    for low in (True, False):
        if low:
            here = known & (x < a + 1) & (x > 0)
        else:
            here = known & (x >= a + 1) & np.isfinite(x)
        shape, point = a[here], x[here]
        if not shape.size:
            continue
        log_gamma = lgamma_array(shape)
        if derivative:
            log_gamma = log_gamma + 1j * _STEP * digamma_array(shape)
            shape = shape + 1j * _STEP
        front = np.exp(shape * np.log(point) - point - log_gamma)
        value = front * (_series if low else _fraction)(shape, point)
        if derivative:
            out[here] = (value.imag / _STEP) * (1 if low != upper else -1)
        else:
            out[here] = value if low != upper else 1 - value
    ends = known & ((x == 0) | np.isinf(x))
    out[ends] = 0 if derivative else (x[ends] == 0) == upper
    if not (upper or derivative):
        out[(a == 0) & (x == 0)] = 0
    return out


class _Incomplete(Primitive):
    """What both functions and their slope in a share."""

    _upper = False
    _derivative = False

    def forward(self, a: Any, x: Any) -> np.ndarray:
        for given, name in ((a, "a"), (x, "x")):
            if arguments.array(self.name, given, name).dtype not in (np.float32, np.float64):
                raise TypeError(
                    f"For '{self.name}', the dtype of '{name}' must be Float32 or Float64, but got "
                    f"{from_numpy(given.dtype)}; cast it first."
                )
        if a.dtype != x.dtype:
            raise TypeError(
                f"For '{self.name}', 'a' and 'x' must have one dtype, but got {from_numpy(a.dtype)} and "
                f"{from_numpy(x.dtype)}; cast one of them."
            )
        try:
            a64, x64 = np.broadcast_arrays(a.astype(np.float64), x.astype(np.float64))
        except ValueError:
            raise ValueError(
                f"For '{self.name}', the shapes of 'a' and 'x' must broadcast, but got {a.shape} and {x.shape}."
            ) from None
        return gamma_ratio(a64, x64, self._upper, self._derivative).astype(a.dtype, copy=False)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        a, x = inputs
        da = reduce_to(dout * _slopes[self._upper](a, x), a) if wanted(a) else None
        if not wanted(x):
            return da, None
        density = ops.exp((a - 1) * ops.log(x) - x - ops.lgamma(a))
        return da, reduce_to(dout * (-density if self._upper else density), x)


class _Slope(_Incomplete):
    """The derivative of P(a, x), or of Q, in a."""

    _derivative = True

    def __init__(self, upper: bool) -> None:
        self._upper = upper

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        a, x = inputs
        if wanted(a):
            raise RuntimeError("For 'igamma', the second derivative in 'a' is not defined; wrap 'a' in stop_gradient.")
        slope = ops.exp((a - 1) * ops.log(x) - x - ops.lgamma(a)) * (ops.log(x) - ops.digamma(a))
        return None, reduce_to(dout * (-slope if self._upper else slope), x)


_slopes = (_Slope(False), _Slope(True))


class Igamma(_Incomplete):
    """The regularised lower incomplete gamma function P(a, x).

    The integral of t^(a - 1) e^(-t) from 0 to x, divided by gamma(a).

    Call:
        a (Tensor): above 0, float32 or float64; NaN comes out elsewhere.
        x (Tensor): 0 or more, of the same dtype; the shapes broadcast.

    Raises:
        TypeError: if the dtypes are others or differ.
        ValueError: if the shapes do not broadcast.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Igamma()(ms.Tensor([1.0]), ms.Tensor([2.0])))
        [0.86466473]
    """


class Igammac(_Incomplete):
    """The regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x).

    Call:
        a (Tensor): above 0, float32 or float64; NaN comes out elsewhere.
        x (Tensor): 0 or more, of the same dtype; the shapes broadcast.

    Raises:
        TypeError: if the dtypes are others or differ.
        ValueError: if the shapes do not broadcast.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Igammac()(ms.Tensor([1.0]), ms.Tensor([2.0])))
        [0.13533528]
    """

    _upper = True


_igamma, _igammac = Igamma(), Igammac()


def igamma(input: Tensor, other: Tensor) -> Tensor:
    """Return the regularised lower incomplete gamma function P(input, other).

    P(a, x) is the integral of t^(a - 1) e^(-t) from 0 to x, divided by gamma(a).

    Args:
        input: a above 0, float32 or float64; NaN comes out elsewhere.
        other: x of 0 or more, of the same dtype; the shapes broadcast.

    Returns:
        Tensor.

    Raises:
        TypeError: if an argument is no Tensor, or the dtypes are others or differ.
        ValueError: if the shapes do not broadcast.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.igamma(ms.Tensor([1.0]), ms.Tensor([2.0])))
        [0.86466473]
    """
    return _igamma(input, other)


def igammac(input: Tensor, other: Tensor) -> Tensor:
    """Return the regularised upper incomplete gamma function Q(input, other) = 1 - P(input, other).

    Args:
        input: a above 0, float32 or float64; NaN comes out elsewhere.
        other: x of 0 or more, of the same dtype; the shapes broadcast.

    Returns:
        Tensor.

    Raises:
        TypeError: if an argument is no Tensor, or the dtypes are others or differ.
        ValueError: if the shapes do not broadcast.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.igammac(ms.Tensor([1.0]), ms.Tensor([2.0])))
        [0.13533528]
    """
    return _igammac(input, other)
