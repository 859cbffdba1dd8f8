"""Tensor's methods whose arguments have other names than those of the functions of ops."""

from __future__ import annotations

import math
from typing import Any

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_type, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import integer, not_of


def approximate_equal(self: Tensor, other: Tensor, tolerance: float = 1e-05) -> Tensor:
    """Tell where elements differ from another tensor's by less than a tolerance; see `ops.approximate_equal`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0, 2.0]).approximate_equal(other=ms.Tensor([1.0, 2.5])))
        [ True False]
    """
    if not isinstance(other, Tensor):
        raise ValueError(f"For 'Tensor.approximate_equal', 'other' must be a Tensor, but got {type(other).__name__}.")
    if not isinstance(tolerance, float):
        raise ValueError(
            f"For 'Tensor.approximate_equal', 'tolerance' must be a float, but got {type(tolerance).__name__}."
        )
    return ops.less(ops.abs(ops.sub(self, other)), tolerance)


def bitwise_right_shift(self: Tensor, other: Any) -> Tensor:
    """Move the bits right, by numbers of any type that are brought to the tensor's; see `ops.bitwise_right_shift`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([8, -8]).bitwise_right_shift(2))
        [ 2 -2]
    """
    other = int(other) if isinstance(other, (int, float)) else other
    return ops.bitwise_right_shift(self, ops.cast(other, self.dtype) if isinstance(other, Tensor) else other)


def diag(self: Tensor, diagonal: int = 0) -> Tensor:
    """Put a vector on a matrix's diagonal, or take it from there; see `ops.diag`.

    Raises:
        ValueError: if `diagonal` is not 0: `Tensor.diagflat` and `Tensor.diagonal` take others.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1, 2]).diag())
        [[1 0]
         [0 2]]
    """
    if integer(diagonal, "diagonal", "Tensor.diag"):
        raise ValueError(f"For 'Tensor.diag', 'diagonal' must be 0, but got {diagonal}; see 'diagflat' and 'diagonal'.")
    return ops.diag(self)


def float_power(self: Tensor, other: Any) -> Tensor:
    """Return the elements to a power, as floats; see `ops.float_power`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([2]).float_power(other=3))
        [8.]
    """
    not_of(self, "FD", "self", "Tensor.float_power"), not_of(other, "FD", "other", "Tensor.float_power")
    if isinstance(other, complex):
        raise TypeError(complaint("other", "Tensor.float_power", "a Tensor or a real number", other))
    return ops.float_power(self, other)


def _divided(self: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """Return the quotient, as it is or rounded; see `ops.div`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([-7, 7]).div(2, rounding_mode="floor"))
        [-4  3]
    """
    if rounding_mode is not None:
        check_type(rounding_mode, "rounding_mode", "Tensor.div", str)
    return ops.div(self, other, rounding_mode=rounding_mode)


def masked_fill(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Put one value where the mask is true, among integers cut to one of them; see `ops.masked_fill`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1, 2]).masked_fill(ms.Tensor([True, False]), 7.5))
        [7 2]
    """
    if isinstance(value, float) and math.isfinite(value) and self._element.kind in "iu":
        value = int(value)
    return ops.masked_fill(self, mask, value)


def qr(self: Tensor, some: bool = True) -> tuple[Tensor, Tensor]:
    """Return the QR decomposition of matrices; see `ops.qr`.

    Args:
        some: whether Q has as many columns as the matrix has, where it has more rows; else Q is square.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.ones((3, 2)).qr(some=False)[0].shape
        (3, 3)
    """
    return ops.qr(self, "reduced" if check_bool(some, "some", "qr") else "complete")


def bernoulli(self: Tensor, p: Any = None, seed: int | None = None, *, generator: Any = None) -> Tensor:
    """Draw 0 or 1 for each element, by its own chance or that of `p`; see `ops.bernoulli`.

    Args:
        p: the chance of 1, a float or a Tensor; None for the elements.
        seed: decides, as in `ops.bernoulli`.
        generator: a Generator whose numbers are used, or None.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([0.0, 1.0]).bernoulli())
        [0. 1.]
    """
    if generator is not None:
        from dist_ms.ops.extended.drawing import bernoulli as drawn

        return drawn(self if p is None else ops.zeros_like(self) + p, generator=generator)
    return ops.bernoulli(self, self if p is None else p, seed)


def multiply(self: Tensor, value: Any) -> Tensor:
    """Return the products of the elements and others; see `ops.multiply`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1, 2]).multiply(value=3))
        [3 6]
    """
    return ops.multiply(self, value)


def reverse_sequence(self: Tensor, seq_lengths: Tensor, seq_dim: int = 0, batch_dim: int = 0) -> Tensor:
    """Turn the first elements of each row round; see `ops.reverse_sequence`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([[1, 2], [3, 4]]).reverse_sequence(ms.Tensor([1, 2]), batch_dim=1))
        [[1 4]
         [3 2]]
    """
    return ops.reverse_sequence(self, seq_lengths, seq_dim, batch_dim)


for _method in (
    *(approximate_equal, bernoulli, bitwise_right_shift, diag, float_power, masked_fill, multiply, qr),
    reverse_sequence,
):
    setattr(Tensor, _method.__name__, _method)
Tensor.div = Tensor.divide = _divided
