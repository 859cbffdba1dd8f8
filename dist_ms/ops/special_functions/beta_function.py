"""Betainc: the regularized incomplete beta function."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import floating
from dist_ms.ops.kernels import special
from dist_ms.ops.pointwise import apply
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.special_functions.special import lgamma

__all__ = ["Betainc"]


class Betainc(Primitive):
    """The regularized incomplete beta function I(x; a, b).

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

    def forward(self, a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
        for argument, value in (("a", a), ("b", b), ("x", x)):
            floating(value, argument, self.name, complex_too=False)
        if not a.dtype == b.dtype == x.dtype or a.dtype.itemsize < 4:
            raise TypeError(
                f"For '{self.name}', 'a', 'b' and 'x' must have one dtype, Float32 or Float64, but got {a.dtype}, "
                f"{b.dtype} and {x.dtype}."
            )
        if not a.shape == b.shape == x.shape:
            raise ValueError(
                f"For '{self.name}', 'a', 'b' and 'x' must have one shape, but got {a.shape}, {b.shape} and {x.shape}."
            )
        # SciPy takes a float32 loop for float32, which loses three digits.
        out = apply(special.betainc, *(v.astype(np.float64) for v in (a, b, x))).astype(x.dtype)
        np.copyto(out, np.nan, where=~((a > 0) & (b > 0)))
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        a, b, x = inputs
        density = (lgamma(a + b) - lgamma(a) - lgamma(b) + (a - 1.0) * x.log() + (b - 1.0) * (1.0 - x).log()).exp()
        return None, None, dout * density
