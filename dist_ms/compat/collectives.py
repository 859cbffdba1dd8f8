"""`mindspore.ops.ReduceOp` and `mindspore.ops.AllReduce`, which the operations' floor cannot reach MPI for."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.communication import get_comm
from dist_ms.ops.primitive import Primitive

__all__ = ["AllReduce", "ReduceOp"]


class ReduceOp:
    """The reductions' names.

    Examples:
        >>> from dist_ms.compat.collectives import ReduceOp
        >>> ReduceOp.SUM
        'sum'
    """

    SUM, MAX, MIN, PROD, AVG = "sum", "max", "min", "prod", "avg"


class AllReduce(Primitive):
    """The element-wise reduction of every rank's tensor, on every rank.

    Args:
        op: "sum", "max", "min" or "prod". Only a sum has a gradient: the sum of every rank's.
        group: the ranks that take part.

    Raises:
        TypeError: if `op` is not a string.
        ValueError: if `op` is not one of them.
    """

    keeps = ()

    def __init__(self, op: str = ReduceOp.SUM, group: str = "hccl_world_group") -> None:
        super().__init__()
        if not isinstance(op, str):
            raise TypeError(f"For 'AllReduce', the type of 'op' must be str, but got {type(op).__name__}.")
        if op not in ("sum", "max", "min", "prod"):
            raise ValueError(f"For 'AllReduce', 'op' must be one of sum, max, min, prod, but got {op!r}.")
        self.op, self.group = op, group

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Reduce a copy."""
        return get_comm(self.group).all_reduce(np.array(x, order="C"), self.op)

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        """A rank's input counts in every rank's sum."""
        if self.op != "sum":
            raise NotImplementedError(f"For 'AllReduce', only op 'sum' has a gradient, but got {self.op!r}.")
        return (self(dout),)
