"""Floor, Ceil, Round and their kin: elementwise rounding. All gradients are zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array, floating, integer, real
from dist_ms.ops.elementwise.arithmetic import mul
from dist_ms.ops.kernels import pointwise
from dist_ms.ops.pointwise import apply
from dist_ms.ops.primitive import Primitive, quiet

__all__ = ["Ceil", "Floor", "Rint", "Round", "Trunc", "ceil", "floor", "frac", "rint", "round", "trunc"]


class _Step(Primitive):
    """A function that is constant but for jumps."""

    keeps = ()

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return mul(dout, 0)


class Floor(_Step):
    """Each element rounded down to a whole number.

    Call:
        input (Tensor): floats.

    Raises:
        TypeError: if `input` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.floor(ms.Tensor([1.5, -1.5])))
        [ 1. -2.]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return apply(np.floor, floating(input, "input", self.name, complex_too=False))


class Ceil(_Step):
    """Each element rounded up to a whole number.

    Call:
        input (Tensor): floats.

    Raises:
        TypeError: if `input` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ceil(ms.Tensor([1.5, -1.5])))
        [ 2. -1.]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return apply(np.ceil, floating(input, "input", self.name, complex_too=False))


class Trunc(_Step):
    """Each element cut toward zero to a whole number.

    Call:
        input (Tensor): real numbers.

    Raises:
        TypeError: if `input` is no Tensor of real numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.trunc(ms.Tensor([1.5, -1.5])))
        [ 1. -1.]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return apply(np.trunc, input) if real(input, "input", self.name).dtype.kind in "fV" else input.copy()


class _Frac(Primitive):
    """Each element without its integer part."""

    keeps = ()

    def forward(self, input: np.ndarray) -> np.ndarray:
        if real(input, "input", self.name).dtype.kind in "fV":
            return apply(pointwise.frac, input)
        return np.zeros_like(input)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return dout


class Rint(_Step):
    """Each element rounded to the nearest whole number, halves to the even one.

    Call:
        x (Tensor): floats.

    Raises:
        TypeError: if `x` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Rint()(ms.Tensor([0.5, 1.5, 2.5])))
        [0. 2. 2.]
    """

    def forward(self, x: np.ndarray) -> np.ndarray:
        return apply(np.rint, floating(x, "x", self.name, complex_too=False))


class Round(Primitive):
    """`round` as a primitive: `Round()(input, decimals)`."""

    keeps = ()

    @quiet
    def forward(self, input: np.ndarray, decimals: Any = 0) -> np.ndarray:
        kind = array(input, "input", self.name).dtype.kind
        if kind in "buc":
            raise RuntimeError(
                f"For '{self.name}', 'input' must hold signed integers or floats, but got {input.dtype.name}."
            )
        decimals = integer(decimals, "decimals", self.name)
        if not decimals and kind in "fV":
            return apply(np.rint, input)
        if kind == "V":
            return np.round(input.astype(np.float32), decimals).astype(input.dtype)
        return np.round(input, decimals)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return (mul(dout, 0),) + (None,) * (len(inputs) - 1)


floor, ceil, trunc, rint = Floor(), Ceil(), Trunc(), Rint()
_frac, _round = _Frac(), Round()


def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Round each element to so many decimals, halves to the even one.

    Args:
        input: a Tensor of integers or floats.
        decimals: number of decimals; negative ones count left of the point.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `input` is no Tensor of integers or floats, or `decimals` no int.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.round(ms.Tensor([0.5, 1.26]), decimals=1))
        [0.5 1.3]
    """
    return _round(input, decimals)


def frac(x: Tensor) -> Tensor:
    """Return the fractional part of each element, with its sign.

    Args:
        x: a Tensor of real numbers.

    Returns:
        Tensor of the shape and dtype of `x`.

    Raises:
        TypeError: if `x` is no Tensor of real numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.frac(ms.Tensor([1.5, -1.25])))
        [ 0.5  -0.25]
    """
    return _frac(x)
