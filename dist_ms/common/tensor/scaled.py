"""Tensors that are another's array times a factor, and are not made unless somebody reads them.

What clips gradients or takes a loss scale off them gives such tensors, and so do gradients that are one array, of
which all but one are copies; an optimizer takes array and factor, and they are never made. Why nobody can tell them
from tensors made at once stands in `_ext/tape/tape_later.pxi`.
"""

from __future__ import annotations

import math

import numpy as np

from dist_ms._ext.tape import Later, Source, postponed, source_of, wrap
from dist_ms.common.tensor import Tensor

__all__ = ["apart", "pending", "readable", "scaled"]

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


class Product(Later):
    """The array of a Source times a factor, in the array's type."""

    def __init__(self, source: Source, factor: float) -> None:
        super().__init__(source.shape, source.dtype)
        self.source, self.factor = source, factor

    def array(self) -> np.ndarray:
        values = self.source.values
        return values.copy(order="K") if self.factor == 1 else _times(values, self.factor)

    def times(self, factor: float) -> Product | None:
        """This times another factor, if one rounding gives the bits of two in turn; else None."""
        if _is_power_of_two(factor) or _is_power_of_two(self.factor):
            return Product(self.source, self.factor * factor)
        return None


def scaled(x: Tensor, factor: float) -> Tensor:
    """Return a tensor times a factor, in the tensor's type and without its history; it may be made later.

    Args:
        x: the tensor.
        factor: rounded to the tensor's type.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.common.tensor.scaled import pending, scaled
        >>> half = scaled(ms.Tensor([2.0, 4.0]), 0.5)
        >>> pending(half)
        (array([2., 4.], dtype=float32), 0.5)
        >>> print(half)
        [1. 2.]
        >>> pending(half) is None
        True
    """
    times, kind = None, x._element
    if kind in _FLOATS:
        factor = float(kind.type(factor))
        if type(x._later) is Product:
            times = x._later.times(factor)
        elif (source := source_of(x)) is not None:
            times = Product(source, factor)
    result = wrap(_times(x.array(), factor)) if times is None else postponed(times, times.source)
    result._part = x._part
    return result


def apart(x: Tensor) -> Tensor:
    """Return a tensor of the same values without history, which is copied once somebody reads it or writes to `x`.

    Args:
        x: the tensor.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.common.tensor.scaled import apart, pending
        >>> x = ms.Tensor([2.0, 4.0])
        >>> y = apart(x)
        >>> pending(y) is None
        False
        >>> x += 1
        >>> print(y)
        [2. 4.]
    """
    if (source := source_of(x)) is None:
        result = wrap(x.array().copy(order="K"))
    else:
        result = postponed(Product(source, 1.0), source)
    result._part = x._part
    return result


def _times(array: np.ndarray, factor: float) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(np.multiply(array, array.dtype.type(factor)))  # of no dimensions, too


def _is_power_of_two(x: float) -> bool:
    return math.isfinite(x) and math.frexp(x)[0] == 0.5


def pending(x: Tensor) -> tuple[np.ndarray, float] | None:
    """Return the array and the factor of a tensor that is not made yet; None for any other tensor.

    Args:
        x: a tensor. The array is only to be read, and before anything else happens.
    """
    later = x._later
    return (later.source.values, later.factor) if type(later) is Product else None


def readable(x: Tensor) -> np.ndarray:
    """Return a tensor's array without making what depends on it.

    Args:
        x: a tensor. The array is only to be read, and before anything else happens.
    """
    return x._later.values if type(x._later) is Source else x.array()
