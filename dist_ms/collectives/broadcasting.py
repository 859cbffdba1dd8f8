"""Broadcast: one rank's tensors on every rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.collectives.arguments import WORLD, check_group_name, check_int, check_rank_in, check_tensor, comm_for
from dist_ms.collectives.movement import all_reduce
from dist_ms.ops.primitive import Primitive

__all__ = ["Broadcast"]


class Broadcast(Primitive):
    """One rank's tensors on every rank.

    Differentiable: the root's tensor counts on every rank, so it gets the sum of the incoming gradients; the
    other ranks' tensors count nowhere and get zeros.

    Args:
        root_rank: the rank in the group whose tensors they are.
        group: the ranks that take part; default: all.

    Inputs:
        A tuple of Tensors, of the same shapes and types on every rank; or one Tensor.

    Returns:
        A tuple of Tensors; a Tensor for a Tensor.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such rank.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> ms.communication.init()
        >>> ms.ops.Broadcast(0)((ms.Tensor([1.0, 2.0]),))
        (Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00]),)
    """

    keeps = ()

    def __init__(self, root_rank: int, group: str = WORLD) -> None:
        super().__init__()
        self.root_rank = check_int(root_rank, "root_rank", self.name)
        self.group = check_group_name(group, self.name)

    def __call__(self, tensors: Any) -> Any:
        if isinstance(tensors, (tuple, list)):
            return tuple(super(Broadcast, self).__call__(check_tensor(t, "tensors", self.name)) for t in tensors)
        return super().__call__(check_tensor(tensors, "tensors", self.name))

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Broadcast a copy."""
        comm = comm_for(self.group, self.name)
        check_rank_in(self.root_rank, "root_rank", self.name, comm)
        return comm.broadcast(np.empty(x.shape, x.dtype), self.root_rank, x)

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        """The root's tensor counts on every rank."""
        return (_SumAtRoot(self.root_rank, self.group)(dout),)


class _SumAtRoot(Broadcast):
    """The transpose of Broadcast: the sum of every rank's tensor at the root, zeros elsewhere."""

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Add up."""
        comm = comm_for(self.group, self.name)
        total = all_reduce(self.name, comm, x, "sum")[0]
        return total if comm.rank == self.root_rank else np.zeros_like(total)

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        """The transpose of the transpose."""
        return (Broadcast(self.root_rank, self.group)(dout),)
