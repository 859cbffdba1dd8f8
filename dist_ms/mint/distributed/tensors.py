"""Collectives that write into the tensor they are given: reductions, broadcast, gathering, barrier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dist_ms.collectives import movement
from dist_ms.collectives.arguments import (
    check_async,
    check_reduction,
    check_sizes,
    check_tensor,
    check_tensor_list,
    comm_for,
    rank_of_world,
)
from dist_ms.collectives.handles import CommHandle
from dist_ms.collectives.reductions import ReduceOp
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.communication import Handle

__all__ = [
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_into_tensor_uneven",
    "all_reduce",
    "barrier",
    "broadcast",
    "gather",
    "reduce",
]


def all_reduce(
    tensor: Tensor, op: str = ReduceOp.SUM, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Overwrite the tensor with the element-wise reduction of every rank's.

    Args:
        tensor: of the same shape and type on every rank.
        op: "sum", "max", "min", "prod" or "avg".
        group: the ranks that take part; default: all.
        async_op: return at once.

    Returns:
        None; with `async_op` the handle, after whose `wait()` the tensor is written.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such reduction.
        RuntimeError: before init_process_group(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import all_reduce, init_process_group
        >>> init_process_group()
        >>> x = ms.Tensor([1.0, 2.0])
        >>> all_reduce(x)
        >>> print(x)
        [1. 2.]
    """
    comm = comm_for(group, "all_reduce")
    check_async(async_op, "all_reduce")
    array = check_tensor(tensor, "tensor", "all_reduce").array()
    kind = check_reduction(op, "all_reduce")
    out, handle = movement.all_reduce("all_reduce", comm, array, kind, wait=not async_op)
    return fill(handle, async_op, lambda: tensor.copy_(wrap(out)))


def reduce(
    tensor: Tensor, dst: int, op: str = ReduceOp.SUM, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Overwrite rank `dst`'s tensor with the element-wise reduction of every rank's.

    Args:
        tensor: of the same shape and type on every rank; the other ranks' stay as they are.
        dst: the rank of the world that gets the result.
        op, group, async_op: as in `all_reduce`, as is what is returned.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such reduction or rank.
        RuntimeError: before init_process_group(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import init_process_group, reduce
        >>> init_process_group()
        >>> x = ms.Tensor([1.0, 2.0])
        >>> reduce(x, 0)
        >>> print(x)
        [1. 2.]
    """
    comm = comm_for(group, "reduce")
    check_async(async_op, "reduce")
    root = rank_of_world(dst, "dst", "reduce", comm)
    array = check_tensor(tensor, "tensor", "reduce").array()
    kind = check_reduction(op, "reduce")
    out, handle = movement.all_reduce("reduce", comm, array, kind, wait=not async_op)
    return fill(handle, async_op, lambda: tensor.copy_(wrap(out)) if comm.rank == root else None)


def broadcast(tensor: Tensor, src: int, group: str | None = None, async_op: bool = False) -> CommHandle | None:
    """Overwrite every rank's tensor with rank `src`'s.

    Args:
        tensor: of the same shape and type on every rank.
        src: the rank of the world whose tensor it is.
        group, async_op: as in `all_reduce`, as is what is returned.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such rank.
        RuntimeError: before init_process_group(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import broadcast, init_process_group
        >>> init_process_group()
        >>> x = ms.Tensor([1.0, 2.0])
        >>> broadcast(x, 0)
        >>> print(x)
        [1. 2.]
    """
    comm = comm_for(group, "broadcast")
    check_async(async_op, "broadcast")
    root = rank_of_world(src, "src", "broadcast", comm)
    out, handle = movement.broadcast(comm, check_tensor(tensor, "tensor", "broadcast").array(), root, not async_op)
    return fill(handle, async_op, lambda: None if comm.rank == root else tensor.copy_(wrap(out)))


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Put every rank's tensor behind another along the first dimension, into `output_tensor`.

    Args:
        output_tensor: (size * n, ...); overwritten.
        input_tensor: (n, ...), of the same shape and type on every rank.
        group, async_op: as in `all_reduce`, as is what is returned.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if the shapes do not fit.
        RuntimeError: before init_process_group(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import all_gather_into_tensor, init_process_group
        >>> init_process_group()
        >>> output = ms.Tensor([0.0, 0.0])
        >>> all_gather_into_tensor(output, ms.Tensor([1.0, 2.0]))
        >>> print(output)
        [1. 2.]
    """
    return _gather_into("all_gather_into_tensor", output_tensor, input_tensor, None, group, async_op)


def all_gather_into_tensor_uneven(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    group: str | None = None,
    async_op: bool = False,
) -> CommHandle | None:
    """`all_gather_into_tensor` where the ranks' tensors have lengths of their own.

    Args:
        output: (sum_r n_r, ...); overwritten.
        input: (n_r, ...).
        output_split_sizes: the lengths n_r of all ranks; default: they are equal.
        group, async_op: as in `all_reduce`, as is what is returned.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if the lengths do not fit.
        RuntimeError: before init_process_group(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import all_gather_into_tensor_uneven, init_process_group
        >>> init_process_group()
        >>> output = ms.Tensor([0.0, 0.0])
        >>> all_gather_into_tensor_uneven(output, ms.Tensor([1.0, 2.0]), [2])
        >>> print(output)
        [1. 2.]
    """
    return _gather_into("all_gather_into_tensor_uneven", output, input, output_split_sizes, group, async_op)


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Write rank r's tensor into tensor r of the list, on every rank.

    Args:
        tensor_list: one per rank, of the shape and type of `tensor`; overwritten.
        tensor: of the same shape and type on every rank.
        group, async_op: as in `all_reduce`, as is what is returned.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if the list has another length.
        RuntimeError: before init_process_group(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import all_gather, init_process_group
        >>> init_process_group()
        >>> outputs = [ms.Tensor([0.0, 0.0])]
        >>> all_gather(outputs, ms.Tensor([1.0, 2.0]))
        >>> print(outputs[0])
        [1. 2.]
    """
    comm = comm_for(group, "all_gather")
    check_async(async_op, "all_gather")
    check_same(tensor_list, "tensor_list", "all_gather", tensor, comm.size)
    out, handle = movement.all_gather(comm, tensor.array()[None], wait=not async_op)
    return fill(handle, async_op, lambda: fill_list(tensor_list, out))


def gather(
    tensor: Tensor,
    gather_list: list[Tensor],
    dst: int = 0,
    group: str | None = None,
    async_op: bool = False,
) -> CommHandle | None:
    """Write rank r's tensor into tensor r of rank `dst`'s list.

    Args:
        tensor: of the same shape and type on every rank.
        gather_list: on `dst` one per rank, overwritten; elsewhere not read.
        dst: the rank of the world that gets them.
        group, async_op: as in `all_reduce`, as is what is returned.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if the list has another length, or there is no such rank.
        RuntimeError: before init_process_group(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import gather, init_process_group
        >>> init_process_group()
        >>> outputs = [ms.Tensor([0.0, 0.0])]
        >>> gather(ms.Tensor([1.0, 2.0]), outputs)
        >>> print(outputs[0])
        [1. 2.]
    """
    comm = comm_for(group, "gather")
    check_async(async_op, "gather")
    check_tensor(tensor, "tensor", "gather")
    root = rank_of_world(dst, "dst", "gather", comm)
    if comm.rank == root:
        check_same(gather_list, "gather_list", "gather", tensor, comm.size)
    parts, handle = movement.gather(comm, tensor.array(), root)
    return fill(handle, async_op, lambda: fill_list(gather_list, parts) if parts else None)


def barrier(group: str | None = None, async_op: bool = False, device_ids: Any = None) -> CommHandle | None:
    """Wait until every rank of the group is here.

    Args:
        group: the ranks that wait for each other; default: all.
        async_op: return a handle whose `wait()` waits.
        device_ids: reserved, without effect, as in MindSpore.

    Raises:
        TypeError: if an argument is of the wrong type.
        RuntimeError: before init_process_group().
        TimeoutError: if a rank does not come within DIST_MS_TIMEOUT seconds.

    Examples:
        >>> from dist_ms.mint.distributed import barrier, init_process_group
        >>> init_process_group()
        >>> barrier()
    """
    comm = comm_for(group, "barrier")
    if check_async(async_op, "barrier"):
        return CommHandle(comm.post_all_reduce(np.zeros(1, np.int8)))
    return comm.barrier()


def fill(handle: Handle, async_op: bool, write: Callable[[], object]) -> CommHandle | None:
    """Write the results when the handle is done: now, or when the caller waits."""
    finishing = movement.Finishing(handle, write)
    if async_op:
        return CommHandle(finishing)
    return finishing.wait()


def fill_list(tensors: Sequence[Tensor], arrays: Sequence[np.ndarray]) -> None:
    """Write arrays into tensors."""
    for tensor, array in zip(tensors, arrays, strict=True):
        tensor.copy_(wrap(np.array(array)))


def check_same(tensors: Any, name: str, owner: str, like: Tensor, count: int) -> list[Tensor]:
    """Return a list of `count` tensors of the shape and type of another.

    Raises:
        TypeError: if it is none, or a shape or type differs.
        ValueError: if there are more or fewer.
    """
    check_tensor(like, "tensor", owner)
    tensors = check_tensor_list(tensors, name, owner, count)
    for t in tensors:
        if t.shape != like.shape or t.dtype != like.dtype:
            raise TypeError(
                f"For '{owner}', '{name}' must be {like.dtype} tensors of shape {like.shape}, but got "
                f"{t.dtype} of shape {t.shape}."
            )
    return tensors


def _gather_into(owner: str, output: Tensor, tensor: Tensor, sizes: Any, group: Any, async_op: bool) -> Any:
    """Gather into a tensor; the lengths are equal if `sizes` is None."""
    comm = comm_for(group, owner)
    check_async(async_op, owner)
    rows = np.atleast_1d(check_tensor(tensor, "input_tensor", owner).array())
    if sizes is not None:
        sizes = check_sizes(sizes, "output_split_sizes", owner, comm)
    lengths = [len(rows)] * comm.size if sizes is None else sizes
    wanted = (sum(lengths), *rows.shape[1:])
    if check_tensor(output, "output_tensor", owner).shape != wanted or lengths[comm.rank] != len(rows):
        raise ValueError(
            f"For '{owner}', 'output_tensor' must have shape {wanted} and this rank's tensor length "
            f"{lengths[comm.rank]}, but got {output.shape} and {len(rows)}."
        )
    out, handle = movement.all_gather(comm, rows, sizes, not async_op)
    return fill(handle, async_op, lambda: output.copy_(wrap(out)))
