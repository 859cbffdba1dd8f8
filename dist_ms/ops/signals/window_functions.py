"""hann_window, hamming_window ...: the weights of a piece of a signal before its transform."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.common.checks import check_float, check_number
from dist_ms.common.dtype import Number, float32, float64
from dist_ms.common.error_classes import bools, is_plain, plain
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import boolean, integer, not_of
from dist_ms.ops.primitive import Primitive

__all__ = [
    "BartlettWindow",
    "BlackmanWindow",
    "HammingWindow",
    "bartlett_window",
    "blackman_window",
    "hamming_window",
    "hann_window",
    "kaiser_window",
]


def _window(name: str, length: Any, periodic: Any, dtype: Any, weight: Callable) -> Tensor:
    """A window of `length` numbers weight(t), t from 0 to 1, without the last one if it is periodic."""
    if isinstance(length, Tensor) and length.ndim and not is_plain("window_length", name):
        raise ValueError(f"For '{name}', 'window_length' must be one number, but got shape {length.shape}.")
    length, periodic = integer(length, "window_length", name), boolean(periodic, "periodic", name)
    if length < 0:
        raise ValueError(f"For '{name}', 'window_length' must not be negative, but got {length}.")
    dtype = float32 if dtype is None else dtype
    if not isinstance(dtype, Number) or dtype.np.kind not in "fV":
        raise TypeError(f"For '{name}', 'dtype' must be a float type, but got {dtype!r}.")
    if length < 2:
        return wrap(np.ones(length, dtype.np))
    return wrap(weight(np.arange(length) / (length if periodic else length - 1)).astype(dtype.np))


def bartlett_window(window_length: Any, periodic: bool = True, *, dtype: Number | None = None) -> Tensor:
    """Make a triangle: 1 - |2t - 1|.

    Args:
        window_length: how many numbers, an int or a Tensor of one.
        periodic: leave out the last of one more number.
        dtype: a float type, float32 by default.

    Returns:
        Tensor (window_length,).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `window_length` is negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bartlett_window(5, periodic=False))
        [0.  0.5 1.  0.5 0. ]
    """
    not_of(window_length, "BHIL", "window_length", "bartlett_window")
    return _window("bartlett_window", window_length, periodic, dtype, lambda t: 1 - np.abs(2 * t - 1))


def blackman_window(window_length: Any, periodic: bool = True, *, dtype: Number | None = None) -> Tensor:
    """`bartlett_window` of the form 0.42 - 0.5 cos(2 pi t) + 0.08 cos(4 pi t).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.blackman_window(3, periodic=False))
        [0. 1. 0.]
    """
    not_of(window_length, "BHIL", "window_length", "blackman_window")

    def weight(t: np.ndarray) -> np.ndarray:
        # Rounding must not take the ends below 0.
        return np.maximum(0.42 - 0.5 * np.cos(2 * np.pi * t) + 0.08 * np.cos(4 * np.pi * t), 0)

    return _window("blackman_window", window_length, periodic, dtype, weight)


@plain("window_length")
def hamming_window(
    window_length: Any, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Number | None = None
) -> Tensor:
    """`bartlett_window` of the form alpha - beta cos(2 pi t).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.hamming_window(3, periodic=False, alpha=0.5, beta=0.5))
        [0. 1. 0.]
    """
    check_float(alpha, "alpha", "hamming_window"), check_float(beta, "beta", "hamming_window")
    return _window("hamming_window", window_length, periodic, dtype, lambda t: alpha - beta * np.cos(2 * np.pi * t))


@plain("window_length")
def hann_window(window_length: Any, periodic: bool = True, *, dtype: Number | None = None) -> Tensor:
    """`bartlett_window` of the form 0.5 - 0.5 cos(2 pi t), float64 by default.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.hann_window(5, periodic=False))
        [0.  0.5 1.  0.5 0. ]
    """
    dtype = float64 if dtype is None else dtype
    return _window("hann_window", window_length, periodic, dtype, lambda t: 0.5 - 0.5 * np.cos(2 * np.pi * t))


@bools("beta")
@plain("window_length")
def kaiser_window(
    window_length: Any, periodic: bool = True, beta: float = 12.0, *, dtype: Number | None = None
) -> Tensor:
    """`bartlett_window` of the form i0(beta sqrt(1 - (2t - 1)²)) / i0(beta), float64 by default.

    The larger `beta` is, the narrower is the window.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.kaiser_window(3, periodic=False, beta=0.0))
        [1. 1. 1.]
    """
    check_number(beta, "beta", "kaiser_window")

    def weight(t: np.ndarray) -> np.ndarray:
        return np.i0(beta * np.sqrt(1 - (2 * t - 1) ** 2)) / np.i0(beta)

    return _window("kaiser_window", window_length, periodic, float64 if dtype is None else dtype, weight)


class BartlettWindow(Primitive):
    """`bartlett_window` as a primitive: `BartlettWindow(periodic, dtype)(window_length)`."""

    def __init__(self, periodic: bool = True, dtype: Number = float32) -> None:
        self.periodic, self.dtype = boolean(periodic, "periodic", self.name), dtype

    def __call__(self, window_length: Any) -> Tensor:
        return bartlett_window(window_length, self.periodic, dtype=self.dtype)


class BlackmanWindow(BartlettWindow):
    """`blackman_window` as a primitive: `BlackmanWindow(periodic, dtype)(window_length)`."""

    def __call__(self, window_length: Any) -> Tensor:
        return blackman_window(window_length, self.periodic, dtype=self.dtype)


class HammingWindow(Primitive):
    """`hamming_window` as a primitive: `HammingWindow(periodic, alpha, beta, dtype)(length)`."""

    def __init__(self, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, dtype: Number = float32) -> None:
        self.periodic, self.alpha, self.beta = boolean(periodic, "periodic", self.name), alpha, beta
        self.dtype = dtype

    def __call__(self, length: Any) -> Tensor:
        length = integer(length, "length", self.name)
        return hamming_window(length, self.periodic, self.alpha, self.beta, dtype=self.dtype)
