"""Jvp and Vjp: a function with its Jacobian's products, as cells of MindSpore's older API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.autograd.jacobian import jvp, vjp
from dist_ms.nn.cell import Cell

__all__ = ["Jvp", "Vjp"]


def _apart(inputs: tuple) -> tuple:
    """The inputs with a tensor given twice made two: gradients are told apart by the object."""
    seen: set = set()
    return tuple([x + 0 if id(x) in seen or seen.add(id(x)) else x for x in inputs])


class Jvp(Cell):
    """The outputs of a function, and its Jacobian times a vector; see `dist_ms.jvp`.

    Args:
        fn: a Cell or function of tensors.

    Inputs:
        inputs (Tensor): the function's arguments.
        v (Tensor or tuple): one Tensor for each of them.

    Outputs:
        tuple (outputs, product), the product nested like the outputs.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, 2.0])
        >>> out, product = ms.nn.Jvp(lambda x: x**2)(x, ms.Tensor([1.0, 10.0]))
        >>> print(out, product)
        [1. 4.] [ 2. 40.]
    """

    def __init__(self, fn: Callable) -> None:
        super().__init__()
        self.fn = fn

    def construct(self, *args: Any) -> tuple:
        return jvp(self.fn, _apart(args[:-1]), args[-1])


class Vjp(Cell):
    """The outputs of a function, and a vector times its Jacobian: `dist_ms.vjp`, called as `Jvp`.

    Outputs:
        tuple (outputs, product): a Tensor for one argument, else a tuple.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, 2.0])
        >>> out, product = ms.nn.Vjp(lambda x: x**2)(x, ms.Tensor([1.0, 10.0]))
        >>> print(out, product)
        [1. 4.] [ 2. 40.]
    """

    def __init__(self, fn: Callable) -> None:
        super().__init__()
        self.fn = fn

    def construct(self, *args: Any) -> tuple:
        outputs, back = vjp(self.fn, *_apart(args[:-1]))
        v = args[-1]
        grads = back(*v) if isinstance(v, tuple) else back(v)
        return outputs, grads[0] if isinstance(grads, tuple) and len(grads) == 1 else grads
