"""AllGather, AllGatherV and CollectiveGather: every rank's tensor, one behind the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.collectives.arguments import (
    WORLD,
    check_group_name,
    check_int,
    check_rank_in,
    check_sizes,
    comm_for,
)
from dist_ms.collectives.movement import all_gather, gather
from dist_ms.ops.primitive import Primitive

__all__ = ["AllGather", "AllGatherV", "CollectiveGather"]


class AllGather(Primitive):
    """Every rank's tensor on every rank, one behind the other along the first dimension.

    Differentiable: the gradient of a rank's input is the sum over the ranks of the incoming gradients, cut to
    its part (a ReduceScatter).

    Args:
        group: the ranks that take part; default: all.

    Inputs:
        A Tensor (n, ...) of the same shape and type on every rank; a scalar counts as one of shape (1,).

    Returns:
        A Tensor (size * n, ...).

    Raises:
        TypeError: if `group` is not a string.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> ms.communication.init()
        >>> print(ms.ops.AllGather()(ms.Tensor([1.0, 2.0])))
        [1. 2.]
    """

    keeps = ()

    def __init__(self, group: str = WORLD) -> None:
        super().__init__()
        self.group = check_group_name(self.name, group)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Gather."""
        comm = comm_for(self.name, self.group)
        rows = np.atleast_1d(x)
        return comm.all_gather(rows).reshape(comm.size * len(rows), *rows.shape[1:])

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        """Every rank's result holds this rank's input once."""
        from dist_ms.collectives.scattering import ReduceScatter

        return (ReduceScatter("sum", self.group)(dout).reshape(inputs[0].shape),)


class AllGatherV(Primitive):
    """Every rank's tensor on every rank, one behind the other, where their lengths differ.

    Differentiable like AllGather.

    Args:
        group: the ranks that take part; default: all.

    Inputs:
        - A Tensor (n_r, ...); only n_r may differ between the ranks r.
        - The lengths n_r of all ranks, a list or tuple of ints.

    Returns:
        A Tensor (sum_r n_r, ...).

    Raises:
        TypeError: if `group` is not a string or the lengths are not ints.
        ValueError: if the lengths do not fit the ranks, or this rank's is not n_r.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> ms.communication.init()
        >>> print(ms.ops.AllGatherV()(ms.Tensor([1.0, 2.0]), [2]))
        [1. 2.]
    """

    keeps = ()

    def __init__(self, group: str = WORLD) -> None:
        super().__init__()
        self.group = check_group_name(self.name, group)

    def forward(self, x: np.ndarray, output_split_sizes: Any) -> np.ndarray:
        """Gather."""
        comm = comm_for(self.name, self.group)
        rows = np.atleast_1d(x)
        sizes = check_sizes(self.name, "output_split_sizes", output_split_sizes, comm)
        if sizes[comm.rank] != len(rows):
            raise ValueError(
                f"For '{self.name}', 'output_split_sizes' must have this rank's length {len(rows)} at place "
                f"{comm.rank}, but got {sizes}."
            )
        out, handle = all_gather(comm, rows, sizes)
        handle.wait()
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        """Every rank's result holds this rank's input once."""
        from dist_ms.collectives.scattering import ReduceScatterV

        return ReduceScatterV("sum", self.group)(dout, inputs[1]).reshape(inputs[0].shape), None


class CollectiveGather(Primitive):
    """Every rank's tensor on one rank, one behind the other; the others get a zero of shape (1,).

    Args:
        dest_rank: the rank in the group that gets them.
        group: the ranks that take part; default: all.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such rank.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> ms.communication.init()
        >>> print(ms.ops.CollectiveGather(0)(ms.Tensor([1.0, 2.0])))
        [1. 2.]
    """

    differentiable = False

    def __init__(self, dest_rank: int, group: str = WORLD) -> None:
        super().__init__()
        self.dest_rank = check_int(self.name, "dest_rank", dest_rank)
        self.group = check_group_name(self.name, group)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Gather."""
        comm = comm_for(self.name, self.group)
        check_rank_in(self.name, "dest_rank", self.dest_rank, comm)
        parts, handle = gather(comm, np.atleast_1d(x), self.dest_rank)
        handle.wait()
        return np.concatenate(parts) if parts else np.zeros(1, x.dtype)
