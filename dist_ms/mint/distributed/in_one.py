"""Collectives whose parts are one tensor, and products with a collective before or after them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.collectives import movement
from dist_ms.collectives.arguments import check_async, check_tensor, comm_for, rank_of_world
from dist_ms.collectives.handles import CommHandle
from dist_ms.common.checks import check_bool, complaint
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.mint.distributed.scattering import all_to_all_single, reduce_scatter_tensor, scatter
from dist_ms.mint.distributed.tensors import all_gather_into_tensor, fill

__all__ = [
    "all_gather_matmul",
    "all_to_all_v_c",
    "gather_into_tensor",
    "matmul_reduce_scatter",
    "scatter_tensor",
]


def gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, dst: int = 0, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Put every rank's tensor behind another along the first dimension, into rank `dst`'s `output_tensor`.

    Args:
        output_tensor: (size * n, ...) on `dst`, overwritten; elsewhere not read.
        input_tensor: (n, ...), of the same shape and type on every rank.
        dst: the rank of the world that gets them.
        group, async_op: as in `mint.distributed.all_reduce`, as is what is returned.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if the shapes do not fit, or there is no such rank.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import init_process_group
        >>> init_process_group()
        >>> output = ms.Tensor([0.0, 0.0])
        >>> ms.ops.gather_into_tensor(output, ms.Tensor([1.0, 2.0]))
        >>> print(output)
        [1. 2.]
    """
    owner = "gather_into_tensor"
    comm = comm_for(group, owner)
    check_async(async_op, owner)
    check_tensor(input_tensor, "input_tensor", owner)
    check_tensor(output_tensor, "output_tensor", owner)
    root = rank_of_world(dst, "dst", owner, comm)
    if comm.rank == root:
        wanted = (comm.size * input_tensor.shape[0], *input_tensor.shape[1:])
        if output_tensor.shape != wanted or output_tensor.dtype != input_tensor.dtype:
            found = f"{output_tensor.dtype} of {output_tensor.shape}"
            raise ValueError(complaint("output_tensor", owner, f"{input_tensor.dtype} of {wanted}", found))
    parts, handle = movement.gather(comm, input_tensor.array(), root)
    return fill(handle, async_op, lambda: output_tensor.copy_(wrap(np.concatenate(parts))) if parts else None)


def scatter_tensor(
    output_tensor: Tensor, input_tensor: Tensor, src: int = 0, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Cut rank `src`'s tensor along the first dimension, and write part r into rank r's `output_tensor`.

    Args:
        output_tensor: (n, ...), overwritten.
        input_tensor: (size * n, ...) on `src`; elsewhere not read.
        src: the rank of the world that has it.
        group, async_op: as in `mint.distributed.all_reduce`, as is what is returned.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if the shapes do not fit, or there is no such rank.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import init_process_group
        >>> init_process_group()
        >>> output = ms.Tensor([0.0, 0.0])
        >>> ms.ops.scatter_tensor(output, ms.Tensor([1.0, 2.0]))
        >>> print(output)
        [1. 2.]
    """
    owner = "scatter_tensor"
    comm = comm_for(group, owner)
    check_tensor(output_tensor, "output_tensor", owner)
    check_tensor(input_tensor, "input_tensor", owner)
    parts = None
    if comm.rank == rank_of_world(src, "src", owner, comm):
        if input_tensor.ndim == 0 or input_tensor.shape[0] % comm.size:
            wanted = f"of a first length that {comm.size} divides"
            raise ValueError(complaint("input_tensor", owner, wanted, f"shape {input_tensor.shape}"))
        parts = [wrap(np.ascontiguousarray(part)) for part in np.split(input_tensor.array(), comm.size)]
    return scatter(output_tensor, parts, src, group, async_op)


def all_to_all_v_c(
    output: Tensor,
    input: Tensor,
    send_count_matrix: Sequence[int],
    group: str | None = None,
    async_op: bool = False,
) -> CommHandle | None:
    """Cut a tensor along the first dimension, send part r to rank r, and join what comes in `output`.

    Args:
        output: overwritten.
        input: what is cut.
        send_count_matrix: size * size ints: number i * size + j is how many rows rank i sends to rank j.
        group, async_op: as in `mint.distributed.all_reduce`, as is what is returned.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if the numbers do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import init_process_group
        >>> init_process_group()
        >>> output = ms.Tensor([0.0, 0.0])
        >>> ms.ops.all_to_all_v_c(output, ms.Tensor([1.0, 2.0]), [2])
        >>> print(output)
        [1. 2.]
    """
    comm = comm_for(group, "all_to_all_v_c")
    counts = np.asarray(send_count_matrix)
    if counts.dtype.kind not in "iu" or counts.size != comm.size**2 or (counts.size and counts.min() < 0):
        wanted = f"{comm.size**2} ints of 0 or more"
        raise ValueError(complaint("send_count_matrix", "all_to_all_v_c", wanted, send_count_matrix))
    rows = counts.reshape(comm.size, comm.size)
    return all_to_all_single(output, input, rows[:, comm.rank].tolist(), rows[comm.rank].tolist(), group, async_op)


def _check_fused(owner: str, group: str, world_size: int, bias: Any, comm_turn: int, trans_input: bool) -> Any:
    comm = comm_for(group, owner)
    if world_size != comm.size:
        raise ValueError(complaint("world_size", owner, comm.size, world_size))
    for name, value, built in (("bias", bias, None), ("comm_turn", comm_turn, 0), ("trans_input", trans_input, False)):
        if value != built:
            raise ValueError(complaint(name, owner, built, value))
    return comm


def all_gather_matmul(
    input: Tensor,
    x2: Tensor,
    group: str,
    world_size: int,
    *,
    bias: Tensor | None = None,
    gather_index: int = 0,
    gather_output: bool = True,
    comm_turn: int = 0,
    trans_input: bool = False,
    trans_x2: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the product of all ranks' rows with a matrix, and the rows; no gradient goes through it.

    Args:
        input: (m, k), of the same shape on every rank.
        x2: (k, n).
        group: the ranks that take part.
        world_size: how many they are.
        bias: None, as in MindSpore.
        gather_index: 0, likewise.
        gather_output: whether the rows are returned; if not, a tensor of no elements is.
        comm_turn: 0.
        trans_input: False.
        trans_x2: whether `x2` is (n, k).

    Returns:
        tuple: (m * world_size, n), and (m * world_size, k).

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if an option has another value, or the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import init_process_group
        >>> init_process_group()
        >>> x, w = ms.Tensor([[1.0, 2.0]]), ms.Tensor([[3.0], [4.0]])
        >>> print(ms.ops.all_gather_matmul(x, w, "mccl_world_group", 1)[0])
        [[11.]]
    """
    owner = "all_gather_matmul"
    comm = _check_fused(owner, group, world_size, bias, comm_turn, trans_input)
    check_bool(gather_output, "gather_output", owner)
    check_bool(trans_x2, "trans_x2", owner)
    if gather_index != 0:
        raise ValueError(complaint("gather_index", owner, 0, gather_index))
    check_tensor(input, "input", owner)
    rows = ops.zeros((comm.size * input.shape[0], *input.shape[1:]), input.dtype)
    all_gather_into_tensor(rows, input, group)
    product = ops.matmul(rows, ops.swapaxes(x2, 0, 1) if trans_x2 else x2)
    return product, rows if gather_output else ops.zeros((0,), input.dtype)


def matmul_reduce_scatter(
    input: Tensor,
    x2: Tensor,
    group: str,
    world_size: int,
    *,
    reduce_op: str = "sum",
    bias: Tensor | None = None,
    comm_turn: int = 0,
    trans_input: bool = False,
    trans_x2: bool = False,
) -> Tensor:
    """Return this rank's rows of the sum of all ranks' products; no gradient goes through it.

    Args:
        input: (m, k), where `world_size` divides m.
        x2: (k, n).
        group: the ranks that take part.
        world_size: how many they are.
        reduce_op: "sum".
        bias: None, as in MindSpore.
        comm_turn: 0.
        trans_input: False.
        trans_x2: whether `x2` is (n, k).

    Returns:
        Tensor (m / world_size, n).

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if an option has another value, or the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import init_process_group
        >>> init_process_group()
        >>> x, w = ms.Tensor([[1.0, 2.0]]), ms.Tensor([[3.0], [4.0]])
        >>> print(ms.ops.matmul_reduce_scatter(x, w, "mccl_world_group", 1))
        [[11.]]
    """
    owner = "matmul_reduce_scatter"
    comm = _check_fused(owner, group, world_size, bias, comm_turn, trans_input)
    check_bool(trans_x2, "trans_x2", owner)
    if reduce_op != "sum":
        raise ValueError(complaint("reduce_op", owner, "'sum'", repr(reduce_op)))
    product = ops.matmul(input, ops.swapaxes(x2, 0, 1) if trans_x2 else x2)
    if product.shape[0] % comm.size:
        raise ValueError(complaint("input", owner, f"of rows that {comm.size} divides", input.shape))
    out = ops.zeros((product.shape[0] // comm.size, *product.shape[1:]), product.dtype)
    reduce_scatter_tensor(out, product, reduce_op, group)
    return out
