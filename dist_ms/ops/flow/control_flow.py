"""ForiLoop, WhileLoop, Scan: loops as operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.common.checks import check_callable
from dist_ms.ops.arguments import integer
from dist_ms.ops.primitive import Primitive

__all__ = ["ForiLoop", "Scan", "WhileLoop"]


def _function(value: Any, name: str, owner: str) -> Callable:
    """Return `value` if it can be called."""
    check_callable(value, name, owner)
    return value


class ForiLoop(Primitive):
    """A value passed through a function once for each number of a range.

    Call:
        lower (int): first number.
        upper (int): the number after the last.
        loop_func (Callable): of a number and the value; returns the next value.
        init_val (Any): the value at first.
        unroll (bool): accepted; the loop always runs as written.

    Raises:
        TypeError: if an argument has the wrong type.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.ForiLoop()(1, 5, lambda i, x: i * x, 1)
        24
    """

    def __call__(self, lower: int, upper: int, loop_func: Callable, init_val: Any, unroll: bool = True) -> Any:
        _function(loop_func, "loop_func", self.name)
        for i in range(integer(lower, "lower", self.name), integer(upper, "upper", self.name)):
            init_val = loop_func(i, init_val)
        return init_val


class WhileLoop(Primitive):
    """A value passed through a function while a condition holds.

    Call:
        cond_func (Callable): of the value; returns a bool or a Tensor of one.
        loop_func (Callable): of the value; returns the next.
        init_val (Any): the value at first.

    Raises:
        TypeError: if a function is none.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.WhileLoop()(lambda x: x < 100, lambda x: x * x, 2)
        256
    """

    def __call__(self, cond_func: Callable, loop_func: Callable, init_val: Any) -> Any:
        _function(cond_func, "cond_func", self.name), _function(loop_func, "loop_func", self.name)
        while cond_func(init_val):
            init_val = loop_func(init_val)
        return init_val


class Scan(Primitive):
    """A value passed through a function once for each element, whose other results are collected.

    Call:
        loop_func (Callable): of the value and an element; returns the next value and a result.
        init (Any): the value at first.
        xs (tuple, list or None): the elements; None for as many Nones as `length`.
        length (int): number of elements, if `xs` is None.
        unroll (bool): accepted; the loop always runs as written.

    Returns:
        tuple: the last value and the list of results.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `length` is another than that of `xs`, or there is neither.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.Scan()(lambda total, x: (total + x, total), 0, [1, 2, 3])
        (6, [0, 1, 3])
    """

    def __call__(
        self, loop_func: Callable, init: Any, xs: Any, length: int | None = None, unroll: bool = True
    ) -> tuple:
        _function(loop_func, "loop_func", self.name)
        if xs is None:
            if length is None:
                raise ValueError(f"For '{self.name}', 'length' must be given where 'xs' is None, but got None.")
            xs = [None] * integer(length, "length", self.name)
        if length is not None and integer(length, "length", self.name) != len(xs):
            raise ValueError(f"For '{self.name}', 'length' must be that of 'xs', {len(xs)}, but got {length}.")
        results = []
        for x in xs:
            init, result = loop_func(init, x)
            results.append(result)
        return init, results
