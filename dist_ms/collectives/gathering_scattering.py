"""Gathering and scattering: each is the other's gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.collectives.arguments import (
    WORLD,
    check_group_name,
    check_int,
    check_rank_in,
    check_reduction,
    check_sizes,
    comm_for,
    cut,
    even_sizes,
)
from dist_ms.collectives.movement import all_gather, gather, reduce_scatter, scatter
from dist_ms.collectives.reductions import ReduceOp
from dist_ms.ops.primitive import Primitive

__all__ = ["AllGather", "AllGatherV", "CollectiveGather", "CollectiveScatter", "ReduceScatter", "ReduceScatterV"]


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
        self.group = check_group_name(group, self.name)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Gather."""
        comm = comm_for(self.group, self.name)
        rows = np.atleast_1d(x)
        return comm.all_gather(rows).reshape(comm.size * len(rows), *rows.shape[1:])

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        """Every rank's result holds this rank's input once."""
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
        self.group = check_group_name(group, self.name)

    def forward(self, x: np.ndarray, output_split_sizes: Any) -> np.ndarray:
        """Gather."""
        comm = comm_for(self.group, self.name)
        rows = np.atleast_1d(x)
        sizes = check_sizes(output_split_sizes, "output_split_sizes", self.name, comm)
        if sizes[comm.rank] != len(rows):
            raise ValueError(
                f"For '{self.name}', 'output_split_sizes' must have this rank's length {len(rows)} at place "
                f"{comm.rank}, but got {sizes}."
            )
        out, handle = all_gather(comm, rows, sizes, True)
        handle.wait()
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        """Every rank's result holds this rank's input once."""
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
        self.dest_rank = check_int(dest_rank, "dest_rank", self.name)
        self.group = check_group_name(group, self.name)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Gather."""
        comm = comm_for(self.group, self.name)
        check_rank_in(self.dest_rank, "dest_rank", self.name, comm)
        parts, handle = gather(comm, np.atleast_1d(x), self.dest_rank)
        handle.wait()
        return np.concatenate(parts) if parts else np.zeros(1, x.dtype)


class _Scattering(Primitive):
    keeps = ()

    def __init__(self, op: str = ReduceOp.SUM, group: str = WORLD) -> None:
        super().__init__()
        self.op, self.group = check_reduction(op, self.name), check_group_name(group, self.name)

    def of_sum(self, whole: Any) -> Any:
        """The gathered gradient of a sum, or of an average."""
        if self.op == "avg":
            return whole / comm_for(self.group, self.name).size
        if self.op != "sum":
            raise NotImplementedError(
                f"For '{self.name}', only 'op' 'sum' and 'avg' have a gradient, but got {self.op!r}."
            )
        return whole


class ReduceScatter(_Scattering):
    """The element-wise reduction of every rank's tensor, of which each rank keeps its part of the first dimension.

    Differentiable for "sum" and "avg": the gradient is gathered from all ranks (an AllGather).

    Args:
        op: "sum", "max", "min", "prod" or "avg".
        group: the ranks that take part; default: all.

    Inputs:
        A Tensor (size * n, ...) of the same shape and type on every rank.

    Returns:
        A Tensor (n, ...).

    Raises:
        TypeError: if `op` or `group` is not a string.
        ValueError: if there is no such reduction, or the first dimension cannot be cut evenly.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> ms.communication.init()
        >>> print(ms.ops.ReduceScatter()(ms.Tensor([1.0, 2.0])))
        [1. 2.]
    """

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Reduce and scatter."""
        comm = comm_for(self.group, self.name)
        if x.ndim == 0:
            raise ValueError(f"For '{self.name}', 'x' must have at least one dimension, but got a scalar.")
        sizes = even_sizes(len(x), self.name, comm)
        out, handle = reduce_scatter(self.name, comm, x, self.op, sizes, True)
        handle.wait()
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        """Each rank's part of the result holds that part of every input once."""
        return (self.of_sum(AllGather(self.group)(dout)),)


class ReduceScatterV(_Scattering):
    """ReduceScatter where the ranks' parts have lengths of their own.

    Args:
        op: "sum", "max", "min", "prod" or "avg".
        group: the ranks that take part; default: all.

    Inputs:
        - A Tensor (sum_r n_r, ...) of the same shape and type on every rank.
        - The lengths n_r of all ranks, a list or tuple of ints.

    Returns:
        A Tensor (n_r, ...).

    Raises:
        TypeError: if `op` or `group` is not a string.
        ValueError: if there is no such reduction, or the lengths do not add up.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> ms.communication.init()
        >>> print(ms.ops.ReduceScatterV()(ms.Tensor([1.0, 2.0]), [2]))
        [1. 2.]
    """

    def forward(self, x: np.ndarray, input_split_sizes: Any) -> np.ndarray:
        """Reduce and scatter."""
        comm = comm_for(self.group, self.name)
        rows = np.atleast_1d(x)
        sizes = check_sizes(input_split_sizes, "input_split_sizes", self.name, comm, len(rows))
        out, handle = reduce_scatter(self.name, comm, rows, self.op, sizes, True)
        handle.wait()
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        """Each rank's part of the result holds that part of every input once."""
        whole = AllGatherV(self.group)(dout, inputs[1]).reshape(inputs[0].shape)
        return self.of_sum(whole), None


class CollectiveScatter(Primitive):
    """One rank's tensor, cut evenly along the first dimension; each rank gets its part.

    Args:
        src_rank: the rank in the group whose tensor it is.
        group: the ranks that take part; default: all.

    Inputs:
        A Tensor (size * n, ...) of the same shape and type on every rank; only `src_rank`'s values count.

    Returns:
        A Tensor (n, ...).

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such rank, or the first dimension cannot be cut evenly.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> ms.communication.init()
        >>> print(ms.ops.CollectiveScatter(0)(ms.Tensor([1.0, 2.0])))
        [1. 2.]
    """

    differentiable = False

    def __init__(self, src_rank: int = 0, group: str = WORLD) -> None:
        super().__init__()
        self.src_rank = check_int(src_rank, "src_rank", self.name)
        self.group = check_group_name(group, self.name)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Scatter."""
        comm = comm_for(self.group, self.name)
        check_rank_in(self.src_rank, "src_rank", self.name, comm)
        rows = np.atleast_1d(x)
        sizes = even_sizes(len(rows), self.name, comm)
        out = np.empty((sizes[0], *rows.shape[1:]), x.dtype)
        scatter(comm, cut(rows, sizes), out, self.src_rank).wait()
        return out
