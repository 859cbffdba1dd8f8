"""Tensors that are another's array times a factor, and are not made unless somebody reads them.

What clips gradients or takes a loss scale off them gives such tensors; an optimizer takes array and factor,
and they are never made. Nobody can tell them from tensors made at once, because they are made before the
array can change:

- reading the source first makes what depends on it;
- an array that somebody else holds, or has a view of, is multiplied at once;
- the owner of lent memory calls `settle` before writing there.
"""

from __future__ import annotations

import math
import weakref

import numpy as np

from dist_ms._ext.tape import formless, is_only, wrap
from dist_ms.common.tensor import Tensor

__all__ = ["lend", "pending", "readable", "scaled", "settle"]

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_on_lent_memory: weakref.WeakSet = weakref.WeakSet()


class _Source:
    """Gives a tensor its array back, after what depends on its values is made.

    Attributes:
        array: the array, which nobody else has.
        lent: whether its memory is somebody's who calls `settle`.
        products: the tensors that depend on it.
    """

    remade, plain = True, False

    def __init__(self, array: np.ndarray, lent: bool) -> None:
        self.array, self.lent = array, lent
        self.products: weakref.WeakSet = weakref.WeakSet()

    def create(self, shape: tuple, dtype: np.dtype) -> np.ndarray:
        """Return the array."""
        for product in tuple(self.products):
            product.array()
        return self.array

    def times(self, factor: float) -> Tensor:
        """A tensor that is the array times a factor when somebody reads it."""
        product = formless(self.array.shape, self.array.dtype)
        product.init = _Product(self, factor)
        self.products.add(product)
        if self.lent:
            _on_lent_memory.add(product)
        return product


class _Product:
    """Makes a source's array times a factor."""

    __slots__ = ("factor", "source")
    remade, plain = True, False

    def __init__(self, source: _Source, factor: float) -> None:
        self.source, self.factor = source, factor

    def create(self, shape: tuple, dtype: np.dtype) -> np.ndarray:
        """Return the product, in the array's type."""
        return _times(self.source.array, self.factor)


def scaled(x: Tensor, factor: float) -> Tensor:
    """Return a tensor times a factor, in the tensor's type and without its history; it may be made later.

    Args:
        x: the tensor.
        factor: rounded to the tensor's type.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.common.scaled import pending, scaled
        >>> half = scaled(ms.Tensor([2.0, 4.0]), 0.5)
        >>> pending(half)
        (array([2., 4.], dtype=float32), 0.5)
        >>> print(half)
        [1. 2.]
        >>> pending(half) is None
        True
    """
    made = x.init if x._data is None else None
    times = None
    if type(made) is _Product:
        factor = float(made.source.array.dtype.type(factor))
        if _is_power_of_two(factor) or _is_power_of_two(made.factor):  # one rounding, as two in turn give
            times = made.source.times(made.factor * factor)
    else:
        source = made if type(made) is _Source else _source_of(x)
        if source is not None:
            times = source.times(float(source.array.dtype.type(factor)))
    if times is None:
        times = wrap(_times(x.array(), factor))
    times._part = x._part
    return times


def _source_of(x: Tensor) -> _Source | None:
    """Take the array of a tensor that nobody else can write to; None if there is none such."""
    if type(x) is not Tensor or x._data is None or x._data.dtype not in _FLOATS:
        return None
    lent = x.__dict__.get("lent")
    if not is_only(x, lent):
        return None
    array = x._data
    x._shape, x._dtype = array.shape, array.dtype
    x.init = _Source(array, lent is not None)
    x._data = None
    return x.init


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
    made = x.init if x._data is None else None
    return (made.source.array, made.factor) if type(made) is _Product else None


def readable(x: Tensor) -> np.ndarray:
    """Return a tensor's array without making what depends on it.

    Args:
        x: a tensor. The array is only to be read, and before anything else happens.
    """
    return x.init.array if x._data is None and type(x.init) is _Source else x.array()


def lend(x: Tensor) -> Tensor:
    """Say that a tensor's array is a view of memory whose owner calls `settle` before writing there.

    Args:
        x: the tensor, which is returned.
    """
    x.lent = x._data.base
    return x


def settle() -> None:
    """Make all tensors that depend on lent memory and wait for somebody to read them."""
    for product in tuple(_on_lent_memory):
        product.array()
    _on_lent_memory.clear()
