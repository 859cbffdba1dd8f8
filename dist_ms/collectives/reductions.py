"""AllReduce and Reduce: the element-wise reduction of every rank's tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.collectives.arguments import WORLD, check_group_name, check_int, check_rank_in, check_reduction, comm_for
from dist_ms.collectives.movement import all_reduce
from dist_ms.ops.elementwise.comparison import equal
from dist_ms.ops.primitive import Primitive

__all__ = ["AllReduce", "Reduce", "ReduceOp"]


class ReduceOp:
    """The reductions' names.

    Examples:
        >>> from dist_ms import ops
        >>> ops.ReduceOp.SUM
        'sum'
    """

    SUM, MAX, MIN, PROD, AVG = "sum", "max", "min", "prod", "avg"


class AllReduce(Primitive):
    """The element-wise reduction of every rank's tensor, on every rank.

    Differentiable. With incoming gradients g_r of the ranks r, the gradient of rank k's input x_k is
    sum_r g_r for "sum"; that where x_k is the extreme, else 0, for "max" and "min"; sum_r(g_r y) / x_k for
    "prod" with result y; sum_r g_r / size for "avg".

    Args:
        op: "sum", "max", "min", "prod" or "avg" (the sum divided by the number of ranks; floats only).
        group: the ranks that take part; default: all.

    Inputs:
        A Tensor of the same shape and type on every rank. float16 and bfloat16 are added in float32.

    Raises:
        TypeError: if `op` or `group` is not a string.
        ValueError: if `op` is not one of them.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> ms.communication.init()
        >>> print(ms.ops.AllReduce()(ms.Tensor([1.0, 2.0])))
        [1. 2.]
    """

    def __init__(self, op: str = ReduceOp.SUM, group: str = WORLD) -> None:
        super().__init__()
        self.op, self.group = check_reduction(op, self.name), check_group_name(group, self.name)
        self.keeps_output = self.op in ("max", "min", "prod")
        self.keeps = None if self.keeps_output else ()

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Reduce a copy."""
        return all_reduce(self.name, comm_for(self.group, self.name), x, self.op)[0]

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        """A rank's input counts in every rank's result."""
        (x,) = inputs
        if self.op in ("sum", "avg"):
            return (self(dout),)
        if self.op == "prod":
            return (AllReduce("sum", self.group)(dout * output) / x,)
        return (AllReduce("sum", self.group)(dout) * equal(x, output).astype(dout.dtype),)


class Reduce(Primitive):
    """The element-wise reduction of every rank's tensor, on one rank; the others get a zero of shape (1,).

    Args:
        dest_rank: the rank in the group that gets the result.
        op: "sum", "max", "min", "prod" or "avg".
        group: the ranks that take part; default: all.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such reduction, or no such rank.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> ms.communication.init()
        >>> print(ms.ops.Reduce(0)(ms.Tensor([1.0, 2.0])))
        [1. 2.]
    """

    differentiable = False

    def __init__(self, dest_rank: int, op: str = ReduceOp.SUM, group: str = WORLD) -> None:
        super().__init__()
        self.dest_rank = check_int(dest_rank, "dest_rank", self.name)
        self.op, self.group = check_reduction(op, self.name), check_group_name(group, self.name)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Reduce a copy."""
        comm = comm_for(self.group, self.name)
        check_rank_in(self.dest_rank, "dest_rank", self.name, comm)
        out = all_reduce(self.name, comm, x, self.op)[0]
        return out if comm.rank == self.dest_rank else np.zeros(1, x.dtype)
