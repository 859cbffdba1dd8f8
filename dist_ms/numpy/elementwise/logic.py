"""Comparisons, tests of elements, logical and bitwise operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.dtype import bool_
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.numpy.arguments import alike, cast, is_float, kind_type, strict, tensor_of
from dist_ms.numpy.elementwise.arithmetic import binary
from dist_ms.numpy.elementwise.functions import unary

__all__ = [
    *("array_equal", "array_equiv", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "equal", "greater"),
    *("greater_equal", "invert", "isclose", "isfinite", "isinf", "isnan", "isneginf", "isposinf", "isscalar", "less"),
    *("less_equal", "logical_and", "logical_not", "logical_or", "logical_xor", "not_equal", "signbit"),
]

_BOOL = bool_.np


def _of_bools(function: Callable) -> Callable:
    """A logical operation; numbers are true unless they are 0."""
    return lambda *xs: function(*[cast(x, _BOOL) for x in xs])


def _of_integers(name: str, function: Callable) -> Callable:
    """A bitwise operation, which refuses floats."""

    def checked(*xs: Tensor) -> Tensor:
        for x in xs:
            if is_float(x):
                raise TypeError(f"For '{name}', the inputs must hold integers or bools, but got {x.dtype}.")
        return function(*alike(xs))

    return checked


def _inverted(x: Tensor) -> Tensor:
    if kind_type(x).kind != "i" and kind_type(x).kind != "u":
        raise TypeError(f"For 'invert', 'x' must hold integers, but got {x.dtype}.")
    return ops.bitwise_not(x)


equal = binary("equal", ops.equal, "Return where x1 equals x2.")
not_equal = binary("not_equal", ops.not_equal, "Return where x1 differs from x2.")
less = binary("less", ops.less, "Return where x1 < x2.")
less_equal = binary("less_equal", ops.less_equal, "Return where x1 <= x2.")
greater = binary("greater", ops.greater, "Return where x1 > x2.")
greater_equal = binary("greater_equal", ops.greater_equal, "Return where x1 >= x2.")
logical_and = binary("logical_and", _of_bools(ops.logical_and), "Return where both are true.")
logical_or = binary("logical_or", _of_bools(ops.logical_or), "Return where at least one is true.")
logical_xor = binary("logical_xor", _of_bools(ops.logical_xor), "Return where exactly one is true.", strict)
logical_not = unary("logical_not", _of_bools(ops.logical_not), "Return where `a` is false.", argument="a")
bitwise_and = binary("bitwise_and", _of_integers("bitwise_and", ops.bitwise_and), "Return the bits set in both.")
bitwise_or = binary("bitwise_or", _of_integers("bitwise_or", ops.bitwise_or), "Return the bits set in either.")
bitwise_xor = binary("bitwise_xor", _of_integers("bitwise_xor", ops.bitwise_xor), "Return the bits set in one.")
bitwise_not = unary("bitwise_not", _inverted, "Return the integers with all bits turned over.")
invert = unary("invert", _inverted, "Return the integers with all bits turned over.")


def _test(function: str) -> Callable:
    """A test of NumPy's, which has no gradient."""
    numpy_test = getattr(np, function)
    return lambda x: wrap(np.asarray(numpy_test(x.asnumpy())))


isfinite = unary("isfinite", _test("isfinite"), "Return where elements are neither infinite nor NaN.")
isinf = unary("isinf", _test("isinf"), "Return where elements are infinite.")
isnan = unary("isnan", _test("isnan"), "Return where elements are NaN.")
signbit = unary("signbit", _test("signbit"), "Return where the sign bit is set.")


def isposinf(x: Tensor) -> Tensor:
    """Return where elements are positive infinity.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.isposinf(mnp.array([mnp.inf, -mnp.inf, 1.0])))
        [ True False False]
    """
    return _test("isposinf")(strict(x, "x", "isposinf"))


def isneginf(x: Tensor) -> Tensor:
    """Return where elements are negative infinity."""
    return _test("isneginf")(strict(x, "x", "isneginf"))


def isscalar(element: Any) -> bool:
    """Whether something is a Python number or a string.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.isscalar(3.1), mnp.isscalar(mnp.array(3.1)))
        True False
    """
    return isinstance(element, (bool, int, float, str))


def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Return where |a - b| <= atol + rtol |b|.

    Args:
        a: a Tensor or numbers.
        b: likewise; the shapes must broadcast.
        rtol: the relative difference allowed.
        atol: the absolute difference allowed.
        equal_nan: whether two NaNs are close.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.isclose(mnp.array([1.0, 2.0]), 1.0))
        [ True False]
    """
    first, second = tensor_of(a, "a", "isclose").asnumpy(), tensor_of(b, "b", "isclose").asnumpy()
    return wrap(np.asarray(np.isclose(first, second, rtol, atol, equal_nan)))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Tensor:
    """Whether two tensors have the same shape and elements, as a Tensor of one bool.

    Args:
        a1: a Tensor or numbers.
        a2: likewise.
        equal_nan: whether two NaNs are equal.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.array_equal([0, 1], [0, 2]))
        False
    """
    first, second = tensor_of(a1, "a1", "array_equal").asnumpy(), tensor_of(a2, "a2", "array_equal").asnumpy()
    return wrap(np.asarray(np.array_equal(first, second, equal_nan and first.dtype.kind in "fc")))


def array_equiv(a1: Any, a2: Any) -> Tensor:
    """Whether two tensors have equal elements once broadcast to one shape.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.array_equiv([0, 1], [[0, 1], [0, 1]]))
        True
    """
    first, second = tensor_of(a1, "a1", "array_equiv").asnumpy(), tensor_of(a2, "a2", "array_equiv").asnumpy()
    return wrap(np.asarray(np.array_equiv(first, second)))
