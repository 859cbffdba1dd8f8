"""`communication.comm_func`: collectives that return new tensors.

With `async_op` they return at once, with a handle whose `wait()` completes the tensor, and no gradient passes;
without, the handle is None and gradients pass as through the primitives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.collectives import movement
from dist_ms.collectives.all_to_all import AlltoAllV, AlltoAllVC, count_matrix
from dist_ms.collectives.arguments import (
    WORLD,
    check_async,
    check_reduction,
    check_shape,
    check_tensor,
    check_tensor_list,
    comm_for,
    cut,
    even_sizes,
    part_lengths,
    rank_of_world,
)
from dist_ms.collectives.broadcasting import Broadcast
from dist_ms.collectives.gathering_scattering import AllGather, CollectiveGather, CollectiveScatter, ReduceScatter
from dist_ms.collectives.handles import CommHandle
from dist_ms.collectives.messages import P2POp, batch_isend_irecv, irecv, isend, recv, send
from dist_ms.collectives.reductions import AllReduce, Reduce, ReduceOp
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.shaping.joining import concat

__all__ = [
    "P2POp",
    "all_gather_into_tensor",
    "all_reduce",
    "all_to_all_single_with_output_shape",
    "all_to_all_v_c",
    "all_to_all_with_output_shape",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "gather_into_tensor",
    "irecv",
    "isend",
    "recv",
    "reduce",
    "reduce_scatter_tensor",
    "scatter_tensor",
    "send",
]


def all_reduce(tensor: Tensor, op: str = ReduceOp.SUM, group: str = WORLD, async_op: bool = False) -> tuple:
    """Reduce every rank's tensor element by element; every rank gets the result.

    Args:
        tensor: of the same shape and type on every rank.
        op: "sum", "max", "min", "prod" or "avg".
        group: the ranks that take part; default: all.
        async_op: return at once.

    Returns:
        (result, handle); the handle is None without `async_op`.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such reduction.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.communication.comm_func import all_reduce
        >>> ms.communication.init()
        >>> print(all_reduce(ms.Tensor([1.0, 2.0]))[0])
        [1. 2.]
    """
    check_tensor(tensor, "tensor", "all_reduce")
    if not check_async(async_op, "all_reduce"):
        return AllReduce(op, group)(tensor), None
    comm = comm_for(group, "all_reduce")
    kind = check_reduction(op, "all_reduce")
    out, handle = movement.all_reduce("all_reduce", comm, tensor.array(), kind, wait=False)
    return wrap(out), CommHandle(handle)


def all_gather_into_tensor(tensor: Tensor, group: str = WORLD, async_op: bool = False) -> tuple:
    """Put every rank's tensor behind another along the first dimension, on every rank.

    Args:
        tensor: (n, ...), of the same shape and type on every rank.
        group: the ranks that take part; default: all.
        async_op: return at once.

    Returns:
        (Tensor (size * n, ...), handle); the handle is None without `async_op`.

    Raises:
        TypeError: if an argument is of the wrong type.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.communication.comm_func import all_gather_into_tensor
        >>> ms.communication.init()
        >>> print(all_gather_into_tensor(ms.Tensor([1.0, 2.0]))[0])
        [1. 2.]
    """
    check_tensor(tensor, "tensor", "all_gather_into_tensor")
    if not check_async(async_op, "all_gather_into_tensor"):
        return AllGather(group)(tensor), None
    out, handle = movement.all_gather(comm_for(group, "all_gather_into_tensor"), np.atleast_1d(tensor.array()))
    return wrap(out), CommHandle(handle)


def reduce_scatter_tensor(tensor: Tensor, op: str = ReduceOp.SUM, group: str = WORLD, async_op: bool = False) -> tuple:
    """Reduce every rank's tensor element by element and keep this rank's part of the first dimension.

    Args:
        tensor: (size * n, ...), of the same shape and type on every rank.
        op: "sum", "max", "min", "prod" or "avg".
        group: the ranks that take part; default: all.
        async_op: return at once.

    Returns:
        (Tensor (n, ...), handle); the handle is None without `async_op`.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such reduction, or the first dimension cannot be cut evenly.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.communication.comm_func import reduce_scatter_tensor
        >>> ms.communication.init()
        >>> print(reduce_scatter_tensor(ms.Tensor([1.0, 2.0]))[0])
        [1. 2.]
    """
    check_tensor(tensor, "tensor", "reduce_scatter_tensor")
    if not check_async(async_op, "reduce_scatter_tensor"):
        return ReduceScatter(op, group)(tensor), None
    comm = comm_for(group, "reduce_scatter_tensor")
    rows = np.atleast_1d(tensor.array())
    sizes = even_sizes(len(rows), "reduce_scatter_tensor", comm)
    kind = check_reduction(op, "reduce_scatter_tensor")
    out, handle = movement.reduce_scatter("reduce_scatter_tensor", comm, rows, kind, sizes)
    return wrap(out), CommHandle(handle)


def reduce(tensor: Tensor, dst: int, op: str = ReduceOp.SUM, group: str = WORLD) -> Tensor:
    """Reduce every rank's tensor element by element; rank `dst` gets the result, the others a zero of shape (1,).

    Args:
        tensor: of the same shape and type on every rank.
        dst: the rank of the world that gets the result.
        op: "sum", "max", "min", "prod" or "avg".
        group: the ranks that take part; default: all.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such reduction or rank.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.communication.comm_func import reduce
        >>> ms.communication.init()
        >>> print(reduce(ms.Tensor([1.0, 2.0]), 0))
        [1. 2.]
    """
    check_tensor(tensor, "tensor", "reduce")
    return Reduce(rank_of_world(dst, "dst", "reduce", comm_for(group, "reduce")), op, group)(tensor)


def broadcast(tensor: Tensor, src: int = 0, group: str = WORLD) -> Tensor:
    """Send a rank's tensor to every rank.

    Args:
        tensor: of the same shape and type on every rank; only `src`'s values count.
        src: the rank of the world whose tensor it is.
        group: the ranks that take part; default: all.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such rank.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.communication.comm_func import broadcast
        >>> ms.communication.init()
        >>> print(broadcast(ms.Tensor([1.0, 2.0]), 0))
        [1. 2.]
    """
    check_tensor(tensor, "tensor", "broadcast")
    return Broadcast(rank_of_world(src, "src", "broadcast", comm_for(group, "broadcast")), group)(tensor)


def scatter_tensor(tensor: Tensor, src: int = 0, group: str = WORLD) -> Tensor:
    """Cut a rank's tensor evenly along the first dimension; each rank gets its part.

    Args:
        tensor: (size * n, ...), of the same shape and type on every rank; only `src`'s values count.
        src: the rank of the world whose tensor it is.
        group: the ranks that take part; default: all.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such rank, or the first dimension cannot be cut evenly.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.communication.comm_func import scatter_tensor
        >>> ms.communication.init()
        >>> print(scatter_tensor(ms.Tensor([1.0, 2.0]), 0))
        [1. 2.]
    """
    check_tensor(tensor, "tensor", "scatter_tensor")
    return CollectiveScatter(rank_of_world(src, "src", "scatter_tensor", comm_for(group, "scatter_tensor")), group)(
        tensor
    )


def gather_into_tensor(tensor: Tensor, dst: int = 0, group: str = WORLD) -> Tensor:
    """Put every rank's tensor behind another along the first dimension, on one rank; the others get a zero (1,).

    Args:
        tensor: (n, ...), of the same shape and type on every rank.
        dst: the rank of the world that gets them.
        group: the ranks that take part; default: all.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such rank.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.communication.comm_func import gather_into_tensor
        >>> ms.communication.init()
        >>> print(gather_into_tensor(ms.Tensor([1.0, 2.0])))
        [1. 2.]
    """
    check_tensor(tensor, "tensor", "gather_into_tensor")
    root = rank_of_world(dst, "dst", "gather_into_tensor", comm_for(group, "gather_into_tensor"))
    return CollectiveGather(root, group)(tensor)


def barrier(group: str = WORLD) -> None:
    """Wait until every rank of the group is here.

    Args:
        group: the ranks that wait for each other; default: all.

    Raises:
        TypeError: if `group` is not a string.
        RuntimeError: before init().
        TimeoutError: if a rank does not come within DIST_MS_TIMEOUT seconds.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.communication.comm_func import barrier
        >>> ms.communication.init()
        >>> barrier()
    """
    comm_for(group, "barrier").barrier()


def all_to_all_with_output_shape(
    output_shape_list: Sequence, input_tensor_list: Sequence[Tensor], group: str | None = None, async_op: bool = False
) -> tuple:
    """Send tensor r of a list to rank r, and receive a tensor from every rank.

    Args:
        output_shape_list: for each rank the shape of the tensor it sends here, or a Tensor of that shape.
        input_tensor_list: for each rank the tensor it gets; all of one type.
        group: the ranks that take part; default: all.
        async_op: return at once.

    Returns:
        (tuple of Tensors, handle); the handle is None without `async_op`.

    Raises:
        TypeError: if an argument is of the wrong type, or the tensors' types differ.
        ValueError: if a list has not one entry per rank.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.communication.comm_func import all_to_all_with_output_shape
        >>> ms.communication.init()
        >>> print(all_to_all_with_output_shape([(2,)], [ms.Tensor([1.0, 2.0])])[0][0])
        [1. 2.]
    """
    name = "all_to_all_with_output_shape"
    check_async(async_op, name)
    comm = comm_for(group, name)
    tensors = check_tensor_list(input_tensor_list, "input_tensor_list", name, comm.size)
    if not isinstance(output_shape_list, (list, tuple)) or len(output_shape_list) != comm.size:
        raise ValueError(
            f"For '{name}', 'output_shape_list' must have a shape for each of the {comm.size} ranks, but got "
            f"{output_shape_list!r}."
        )
    shapes = [
        s.shape if isinstance(s, Tensor) else check_shape(s, "output_shape_list", name) for s in output_shape_list
    ]
    if not async_op:
        flat = _joined(tensors)
        sends, receives = [t.size for t in tensors], [int(np.prod(shape, dtype=int)) for shape in shapes]
        came = AlltoAllV(group=WORLD if group is None else group)(flat, sends, receives)
        stops = np.cumsum([0, *receives]).tolist()
        parts = [came[a:b].reshape(shape) for a, b, shape in zip(stops, stops[1:], shapes)]
        return tuple(parts), None
    incoming = [np.empty(shape, tensors[0].dtype.np) for shape in shapes]
    handle = movement.all_to_all(comm, [t.array() for t in tensors], incoming)
    return tuple(wrap(array) for array in incoming), CommHandle(handle)


def all_to_all_single_with_output_shape(
    output_shape: Any,
    tensor: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: str | None = None,
    async_op: bool = False,
) -> tuple:
    """Cut a tensor along the first dimension, send part r to rank r, and join what comes.

    Args:
        output_shape: the result's shape, or a Tensor of that shape.
        tensor: what is cut.
        output_split_sizes: the lengths of the parts that come, by rank; default: equal.
        input_split_sizes: the lengths of the parts that go, by rank; default: equal.
        group: the ranks that take part; default: all.
        async_op: return at once.

    Returns:
        (Tensor, handle); the handle is None without `async_op`.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if the lengths do not add up.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.communication.comm_func import all_to_all_single_with_output_shape
        >>> ms.communication.init()
        >>> print(all_to_all_single_with_output_shape((2,), ms.Tensor([1.0, 2.0]))[0])
        [1. 2.]
    """
    name = "all_to_all_single_with_output_shape"
    check_async(async_op, name)
    comm = comm_for(group, name)
    check_tensor(tensor, "tensor", name)
    shape = _shape(output_shape, "output_shape", name)
    if not tensor.shape or not shape:
        raise ValueError(f"For '{name}', tensors must have at least one dimension, but got a scalar.")
    sends = part_lengths(input_split_sizes, "input_split_sizes", name, len(tensor), comm)
    receives = part_lengths(output_split_sizes, "output_split_sizes", name, shape[0], comm)
    row = int(np.prod(tensor.shape[1:], dtype=int))
    if not async_op:
        came = AlltoAllV(WORLD if group is None else group, max(row, 1))(tensor.reshape(-1), sends, receives)
        return came.reshape(shape), None
    out = np.empty(shape, tensor.dtype.np)
    handle = movement.all_to_all(comm, cut(tensor.array(), sends), cut(out, receives))
    return wrap(out), CommHandle(handle)


def all_to_all_v_c(
    output: Tensor, input: Tensor, send_count_matrix: Any, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Exchange parts of flat tensors whose lengths are in one matrix that all ranks know; `output` is overwritten.

    Args:
        output: a 1-D Tensor for what comes.
        input: a 1-D Tensor.
        send_count_matrix: size * size lengths, nested or flat: what rank r sends to rank k in row r, column k.
        group: the ranks that take part; default: all.
        async_op: return at once.

    Returns:
        None; the handle with `async_op`.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if the matrix does not fit the tensors.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.communication.comm_func import all_to_all_v_c
        >>> ms.communication.init()
        >>> output = ms.Tensor([0.0, 0.0])
        >>> all_to_all_v_c(output, ms.Tensor([1.0, 2.0]), [2])
        >>> print(output)
        [1. 2.]
    """
    name = "all_to_all_v_c"
    check_async(async_op, name)
    comm = comm_for(group, name)
    check_tensor(output, "output", name), check_tensor(input, "input", name)
    counts = count_matrix(name, send_count_matrix, comm)
    if not async_op:
        output.copy_(AlltoAllVC(WORLD if group is None else group)(input, counts).reshape(output.shape))
        return None
    out = np.empty(output.size, input.dtype.np)
    sends, receives = counts[comm.rank].tolist(), counts[:, comm.rank].tolist()
    flat = np.ascontiguousarray(input.array()).reshape(-1)
    handle = movement.all_to_all(comm, cut(flat, sends), cut(out, receives))
    return CommHandle(movement.Finishing(handle, lambda: output.copy_(wrap(out.reshape(output.shape)))))


def _shape(value: Any, name: str, owner: str) -> tuple[int, ...]:
    """A shape, or that of a tensor."""
    return value.shape if isinstance(value, Tensor) else check_shape(value, name, owner)


def _joined(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors of any shape, flat, one behind the other."""
    return concat([t.reshape(-1) for t in tensors])
