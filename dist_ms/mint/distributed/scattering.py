"""Collectives that write each rank's part into the tensor it gives: scatter, reduce-scatter, all-to-all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.collectives import movement
from dist_ms.collectives.arguments import (
    check_async,
    check_reduction,
    check_tensor,
    check_tensor_list,
    comm_for,
    cut,
    part_lengths,
    rank_of_world,
)
from dist_ms.collectives.handles import CommHandle
from dist_ms.collectives.reductions import ReduceOp
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.mint.distributed.tensors import check_same, fill, fill_list

__all__ = [
    "all_to_all",
    "all_to_all_single",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "reduce_scatter_tensor_uneven",
    "scatter",
]


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None,
    src: int = 0,
    group: str | None = None,
    async_op: bool = False,
) -> CommHandle | None:
    """Write tensor r of rank `src`'s list into rank r's tensor.

    Args:
        tensor: of the same shape and type on every rank; overwritten.
        scatter_list: on `src` one per rank; elsewhere not read.
        src: the rank of the world that has the list.
        group, async_op: as in `all_reduce`, as is what is returned.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if the list has another length, or there is no such rank.
        RuntimeError: before init_process_group(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import init_process_group, scatter
        >>> init_process_group()
        >>> x = ms.Tensor([0.0, 0.0])
        >>> scatter(x, [ms.Tensor([1.0, 2.0])])
        >>> print(x)
        [1. 2.]
    """
    comm = comm_for(group, "scatter")
    check_async(async_op, "scatter")
    check_tensor(tensor, "tensor", "scatter")
    root = rank_of_world(src, "src", "scatter", comm)
    parts: list = []
    if comm.rank == root:
        parts = [t.array() for t in check_same(scatter_list, "scatter_list", "scatter", tensor, comm.size)]
    out = np.empty(tensor.shape, tensor.dtype.np)
    return fill(movement.scatter(comm, parts, out, root), async_op, lambda: tensor.copy_(wrap(out)))


def reduce_scatter(
    output: Tensor,
    input_list: list[Tensor],
    op: str = ReduceOp.SUM,
    group: str | None = None,
    async_op: bool = False,
) -> CommHandle | None:
    """Write the reduction of every rank's tensor r into rank r's output.

    Args:
        output: overwritten.
        input_list: one per rank, of the shape and type of `output`.
        op, group, async_op: as in `all_reduce`, as is what is returned.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if the list has another length, or there is no such reduction.
        RuntimeError: before init_process_group(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import init_process_group, reduce_scatter
        >>> init_process_group()
        >>> x = ms.Tensor([0.0, 0.0])
        >>> reduce_scatter(x, [ms.Tensor([1.0, 2.0])])
        >>> print(x)
        [1. 2.]
    """
    comm = comm_for(group, "reduce_scatter")
    check_async(async_op, "reduce_scatter")
    tensors = check_same(input_list, "input_list", "reduce_scatter", output, comm.size)
    kind = check_reduction(op, "reduce_scatter")
    rows = np.stack([t.array() for t in tensors])
    out, handle = movement.reduce_scatter("reduce_scatter", comm, rows, kind, [1] * comm.size, not async_op)
    return fill(handle, async_op, lambda: output.copy_(wrap(out[0])))


def reduce_scatter_tensor(
    output: Tensor,
    input: Tensor,
    op: str = ReduceOp.SUM,
    group: str | None = None,
    async_op: bool = False,
) -> CommHandle | None:
    """Write this rank's part of the reduction of every rank's input into `output`.

    Args:
        output: (n, ...); overwritten.
        input: (size * n, ...), of the same shape and type on every rank.
        op, group, async_op: as in `all_reduce`, as is what is returned.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if the shapes do not fit, or there is no such reduction.
        RuntimeError: before init_process_group(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import init_process_group, reduce_scatter_tensor
        >>> init_process_group()
        >>> x = ms.Tensor([0.0, 0.0])
        >>> reduce_scatter_tensor(x, ms.Tensor([1.0, 2.0]))
        >>> print(x)
        [1. 2.]
    """
    return _reduce_into("reduce_scatter_tensor", output, input, None, op, group, async_op)


def reduce_scatter_tensor_uneven(
    output: Tensor,
    input: Tensor,
    input_split_sizes: Sequence[int] | None = None,
    op: str = ReduceOp.SUM,
    group: str | None = None,
    async_op: bool = False,
) -> CommHandle | None:
    """`reduce_scatter_tensor` where the ranks' parts have lengths of their own.

    Args:
        output: (n_r, ...); overwritten.
        input: (sum_r n_r, ...), of the same shape and type on every rank.
        input_split_sizes: the lengths n_r of all ranks; default: they are equal.
        op, group, async_op: as in `all_reduce`, as is what is returned.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if the lengths do not fit, or there is no such reduction.
        RuntimeError: before init_process_group(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import init_process_group, reduce_scatter_tensor_uneven
        >>> init_process_group()
        >>> x = ms.Tensor([0.0, 0.0])
        >>> reduce_scatter_tensor_uneven(x, ms.Tensor([1.0, 2.0]), [2])
        >>> print(x)
        [1. 2.]
    """
    return _reduce_into("reduce_scatter_tensor_uneven", output, input, input_split_sizes, op, group, async_op)


def all_to_all(
    output_tensor_list: list[Tensor],
    input_tensor_list: list[Tensor],
    group: str | None = None,
    async_op: bool = False,
) -> CommHandle | None:
    """Send tensor r of a list to rank r, and write what rank r sends into tensor r of another.

    Args:
        output_tensor_list: one per rank; overwritten.
        input_tensor_list: one per rank; all of one type.
        group, async_op: as in `all_reduce`, as is what is returned.

    Raises:
        TypeError: if an argument is of the wrong type, or types differ.
        ValueError: if a list has another length, or a tensor another size than what comes.
        RuntimeError: before init_process_group(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import all_to_all, init_process_group
        >>> init_process_group()
        >>> outputs = [ms.Tensor([0.0, 0.0])]
        >>> all_to_all(outputs, [ms.Tensor([1.0, 2.0])])
        >>> print(outputs[0])
        [1. 2.]
    """
    comm = comm_for(group, "all_to_all")
    check_async(async_op, "all_to_all")
    outputs = check_tensor_list(output_tensor_list, "output_tensor_list", "all_to_all", comm.size)
    inputs = check_tensor_list(input_tensor_list, "input_tensor_list", "all_to_all", comm.size)
    if outputs[0].dtype != inputs[0].dtype:
        raise TypeError(
            f"For 'all_to_all', 'output_tensor_list' must be {inputs[0].dtype} as 'input_tensor_list', but got "
            f"{outputs[0].dtype}."
        )
    came = [np.empty(t.shape, t.dtype.np) for t in outputs]
    handle = movement.all_to_all(comm, [t.array() for t in inputs], came)
    return fill(handle, async_op, lambda: fill_list(outputs, came))


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: str | None = None,
    async_op: bool = False,
) -> CommHandle | None:
    """Cut a tensor along the first dimension, send part r to rank r, and join what comes in `output`.

    Args:
        output: overwritten.
        input: what is cut.
        output_split_sizes: the lengths of the parts that come, by rank; default: equal.
        input_split_sizes: the lengths of the parts that go, by rank; default: equal.
        group, async_op: as in `all_reduce`, as is what is returned.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if the lengths do not add up.
        RuntimeError: before init_process_group(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import all_to_all_single, init_process_group
        >>> init_process_group()
        >>> output = ms.Tensor([0.0, 0.0])
        >>> all_to_all_single(output, ms.Tensor([1.0, 2.0]))
        >>> print(output)
        [1. 2.]
    """
    name = "all_to_all_single"
    comm = comm_for(group, name)
    check_async(async_op, name)
    rows = np.atleast_1d(check_tensor(input, "input", name).array())
    out = np.atleast_1d(np.empty(check_tensor(output, "output", name).shape, input.dtype.np))
    sends = part_lengths(input_split_sizes, "input_split_sizes", name, len(rows), comm)
    receives = part_lengths(output_split_sizes, "output_split_sizes", name, len(out), comm)
    handle = movement.all_to_all(comm, cut(rows, sends), cut(out, receives))
    return fill(handle, async_op, lambda: output.copy_(wrap(out.reshape(output.shape))))


def _reduce_into(owner: str, output: Tensor, tensor: Tensor, sizes: Any, op: str, group: Any, async_op: bool) -> Any:
    """Reduce and scatter into a tensor; the parts are equal if `sizes` is None."""
    comm = comm_for(group, owner)
    check_async(async_op, owner)
    rows = np.atleast_1d(check_tensor(tensor, "input", owner).array())
    lengths = part_lengths(sizes, "input_split_sizes", owner, len(rows), comm)
    wanted = (lengths[comm.rank], *rows.shape[1:])
    if check_tensor(output, "output", owner).shape != wanted:
        raise ValueError(f"For '{owner}', 'output' must have shape {wanted}, but got {output.shape}.")
    kind = check_reduction(op, owner)
    out, handle = movement.reduce_scatter(owner, comm, rows, kind, lengths, not async_op)
    return fill(handle, async_op, lambda: output.copy_(wrap(out)))
