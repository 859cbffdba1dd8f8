"""Symbol: a length of a shape that a compiler does not know, with what it may rely on."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_bool, check_int, complaint

__all__ = ["Symbol"]


class Symbol:
    """A length that is not known before a call, for the shapes that `Cell.set_inputs` is given.

    MindSpore's compiler makes use of the bounds. Here every call accepts its own shapes; the
    values are checked and kept.

    Args:
        max: the largest length; up to `min` for no bound.
        min: the smallest, 1 or more.
        divisor, remainder: the length is a multiple of `divisor` plus `remainder`.
        unique: whether lengths with this very object are equal.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `min` or `divisor` is not positive, or `remainder` not in [0, divisor).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Symbol(max=64, divisor=8))
        {'max': 64, 'divisor': 8}
        >>> ms.Tensor(shape=(ms.Symbol(divisor=8), 3), dtype=ms.float32).shape
        (-1, 3)
    """

    def __init__(self, max: int = 0, min: int = 1, divisor: int = 1, remainder: int = 0, unique: bool = False) -> None:
        for name, value in (("max", max), ("min", min), ("divisor", divisor), ("remainder", remainder)):
            check_int(value, name, "Symbol")
        for name, value in (("min", min), ("divisor", divisor)):
            if value < 1:
                raise ValueError(complaint(name, "Symbol", "positive", value))
        if not 0 <= remainder < divisor:
            raise ValueError(complaint("remainder", "Symbol", f"in [0, {divisor})", remainder))
        check_bool(unique, "unique", "Symbol")
        self.max, self.min, self.divisor, self.remainder, self.unique = max, min, divisor, remainder, unique

    def to_dict(self) -> dict[str, Any]:
        """What is known of the length; an `id` where lengths are to be equal."""
        known: dict[str, Any] = {}
        if self.max > self.min:
            known["max"] = self.max
        if self.min > self.divisor + self.remainder:
            known["min"] = self.min
        if self.divisor != 1:
            known["divisor"] = self.divisor
        if self.remainder:
            known["remainder"] = self.remainder
        if self.unique:
            known["id"] = id(self)
        return known

    def __str__(self) -> str:
        return str(self.to_dict())
