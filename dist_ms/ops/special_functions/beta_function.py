"""Betainc: the regularized incomplete beta function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import floating
from dist_ms.ops.primitive import Primitive, quiet
from dist_ms.ops.special_functions.special import lgamma

__all__ = ["Betainc"]

_lgamma = np.frompyfunc(lambda v: math.lgamma(v) if v > 0 and math.isfinite(v) else math.nan, 1, 1)


class Betainc(Primitive):
    """The regularized incomplete beta function I(x; a, b).

    Lentz's continued fraction (Press et al., "Numerical Recipes", 6.4), taken at 1 - x where that is faster.
    The gradient by x is x^(a - 1) (1 - x)^(b - 1) / B(a, b); none flows to a and b.

    Call:
        a, b (Tensor): float32 or float64, above 0, of one shape and dtype.
        x (Tensor): from [0, 1], likewise.

    Returns:
        Tensor; NaN outside those ranges.

    Raises:
        TypeError: if the dtypes differ or are no floats.
        ValueError: if the shapes differ.

    Examples:
        >>> import dist_ms as ms
        >>> one = ms.Tensor([1.0])
        >>> print(ms.ops.Betainc()(one, one, ms.Tensor([0.25])))
        [0.25]
    """

    keeps = (0, 1, 2)

    @quiet
    def forward(self, a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
        for argument, value in (("a", a), ("b", b), ("x", x)):
            floating(self.name, value, argument, complex_too=False)
        if not a.dtype == b.dtype == x.dtype or a.dtype.itemsize < 4:
            raise TypeError(
                f"For '{self.name}', 'a', 'b' and 'x' must have one dtype, Float32 or Float64, but got {a.dtype}, "
                f"{b.dtype} and {x.dtype}."
            )
        if not a.shape == b.shape == x.shape:
            raise ValueError(
                f"For '{self.name}', 'a', 'b' and 'x' must have one shape, but got {a.shape}, {b.shape} and {x.shape}."
            )
        p, q, z = (v.astype(np.float64).reshape(-1) for v in (a, b, x))
        swapped = z > (p + 1) / (p + q + 2)
        p, q, z = np.where(swapped, q, p), np.where(swapped, p, q), np.where(swapped, 1 - z, z)
        front = np.exp(_logarithm(p, q) + p * np.log(z) + q * np.log1p(-z)) / p
        part = np.where(z == 0, 0, front * _fraction(p, q, z))
        out = np.where(swapped, 1 - part, part)
        good = (p > 0) & (q > 0) & (z >= 0) & (z <= 1)
        return np.where(good, out, np.nan).reshape(x.shape).astype(x.dtype)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        a, b, x = inputs
        density = (lgamma(a + b) - lgamma(a) - lgamma(b) + (a - 1.0) * x.log() + (b - 1.0) * (1.0 - x).log()).exp()
        return None, None, dout * density


def _logarithm(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Minus the logarithm of the beta function."""
    return (_lgamma(a + b) - _lgamma(a) - _lgamma(b)).astype(np.float64)


def _fraction(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300

    def safe(v: np.ndarray) -> np.ndarray:
        return np.where(np.abs(v) < tiny, tiny, v)

    c = np.ones_like(x)
    d = 1 / safe(1 - (a + b) * x / (a + 1))
    out = d
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        last = out
        for term in (even, odd):
            d = 1 / safe(1 + term * d)
            c = safe(1 + term / c)
            out = out * d * c
        if not (np.abs(out - last) > 1e-15 * np.abs(out)).any():
            break
    return out
