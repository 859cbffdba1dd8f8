"""`mindspore.nn.grad`: products with the Jacobian of a network, as Cells."""

from __future__ import annotations

from typing import Any

from dist_ms.autograd.jacobian import apart, jvp, vjp
from dist_ms.nn import Cell

__all__ = ["Jvp", "Vjp"]


class _Product(Cell):
    """A network and the function that differentiates it.

    Args:
        fn: a function or Cell of Tensors.
    """

    def __init__(self, fn: Any) -> None:
        super().__init__()
        self.fn = fn


class Jvp(_Product):
    """The network's results and the Jacobian's product with `args[-1]`, a tangent of its other arguments.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.gradient_cells import Jvp
        >>> print(Jvp(lambda x: x * x)(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 1.0]))[1])
        [2. 4.]
    """

    def construct(self, *args: Any) -> tuple:
        tangents = args[-1] if isinstance(args[-1], tuple) else (args[-1],)
        return jvp(self.fn, args[:-1], tangents)


class Vjp(_Product):
    """The network's results and the product of `args[-1]`, a gradient of them, with the Jacobian.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.gradient_cells import Vjp
        >>> print(Vjp(lambda x: x * x)(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 1.0]))[1])
        [2. 4.]
    """

    def construct(self, *args: Any) -> tuple:
        results, product = vjp(self.fn, *apart(args[:-1]))
        gradients = args[-1] if isinstance(args[-1], tuple) else (args[-1],)
        found = product(*gradients)
        return results, found[0] if isinstance(found, tuple) and len(found) == 1 else found
