"""Send, Receive and BatchISendIRecv: messages between two ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.collectives.arguments import (
    WORLD,
    check_group_name,
    check_int,
    check_rank_in,
    check_shape,
    check_tensor,
    comm_for,
)
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_type
from dist_ms.ops.primitive import Primitive

__all__ = ["BatchISendIRecv", "Receive", "Send"]


class Send(Primitive):
    """Send a tensor to a rank, which receives it with `Receive` of the same tag.

    Args:
        sr_tag: tells messages between two ranks apart, 0 to 32767.
        dest_rank: the rank in the group that gets it.
        group: the group; default: all ranks.
        group_back: the group the gradient would travel in; kept only, as no gradient passes.

    Returns:
        A zero of shape (1,), for `ops.Depend`.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such rank or tag.
        RuntimeError: before init(), or if the other rank has ended.

    Examples:
        >>> import dist_ms as ms
        >>> ms.communication.init()
        >>> _ = ms.ops.Send(3, 0)(ms.Tensor([1.0, 2.0]))
        >>> print(ms.ops.Receive(3, 0, [2], ms.float32)())
        [1. 2.]
    """

    differentiable = False

    def __init__(self, sr_tag: int, dest_rank: int, group: str = WORLD, group_back: str = WORLD) -> None:
        super().__init__()
        self.sr_tag = check_int(sr_tag, "sr_tag", self.name)
        self.dest_rank = check_int(dest_rank, "dest_rank", self.name)
        self.group = check_group_name(group, self.name)
        self.group_back = check_group_name(group_back, self.name)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Send."""
        comm_for(self.group, self.name).send(x, self.dest_rank, self.sr_tag)
        return np.zeros(1, x.dtype)


class Receive(Primitive):
    """Receive the tensor that a rank sends with `Send` of the same tag.

    Args:
        sr_tag: tells messages between two ranks apart, 0 to 32767.
        src_rank: the rank in the group that sends.
        shape: the tensor's shape.
        dtype: its type.
        group: the group; default: all ranks.
        group_back: the group the gradient would travel in; kept only, as no gradient passes.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such rank or tag, or a tensor of another size comes.
        RuntimeError: before init(), or if the other rank has ended.

    Examples:
        >>> import dist_ms as ms
        >>> ms.communication.init()
        >>> _ = ms.ops.Send(3, 0)(ms.Tensor([1, 2]))
        >>> print(ms.ops.Receive(3, 0, [2], ms.int64)())
        [1 2]
    """

    differentiable = False

    def __init__(
        self, sr_tag: int, src_rank: int, shape: Any, dtype: Any, group: str = WORLD, group_back: str = WORLD
    ) -> None:
        super().__init__()
        self.sr_tag = check_int(sr_tag, "sr_tag", self.name)
        self.src_rank = check_int(src_rank, "src_rank", self.name)
        self.shape, self.dtype = check_shape(shape, "shape", self.name), mstype.to_numpy(dtype)
        self.group = check_group_name(group, self.name)
        self.group_back = check_group_name(group_back, self.name)

    def forward(self) -> np.ndarray:
        """Receive."""
        return comm_for(self.group, self.name).recv(np.empty(self.shape, self.dtype), self.src_rank, self.sr_tag)


class BatchISendIRecv(Primitive):
    """Several messages at once, each sent or received.

    Args:
        op_types: "isend" or "irecv" for each message.
        remote_ranks: the other rank of each, in the group.
        receive_shapes: the shapes of those received, in their order.
        receive_dtypes: their types.
        group: the group; default: all ranks.

    Inputs:
        A tuple of the Tensors to send, in the order of the "isend"s.

    Returns:
        A tuple with a Tensor per message: what was received; a zero scalar for one that was sent.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if the lists do not fit each other, or there is no such rank.
        RuntimeError: before init(), or if another rank has ended.

    Examples:
        >>> import dist_ms as ms
        >>> ms.communication.init()
        >>> batch = ms.ops.BatchISendIRecv(("isend", "irecv"), [0, 0], [(2,)], (ms.float32,))
        >>> print(batch((ms.Tensor([1.0, 2.0]),))[1])
        [1. 2.]
    """

    differentiable = False

    def __init__(
        self,
        op_types: Sequence[str],
        remote_ranks: Sequence[int],
        receive_shapes: Sequence | None = None,
        receive_dtypes: Sequence | None = None,
        group: str = WORLD,
    ) -> None:
        super().__init__()
        for argument, value in (("op_types", op_types), ("remote_ranks", remote_ranks)):
            check_type(value, argument, self.name, (list, tuple))
        wrong = [kind for kind in op_types if kind not in ("isend", "irecv")]
        if wrong:
            raise ValueError(f"For '{self.name}', 'op_types' must be 'isend' or 'irecv', but got {wrong[0]!r}.")
        shapes, dtypes = list(receive_shapes or ()), list(receive_dtypes or ())
        received = sum(kind == "irecv" for kind in op_types)
        if len(remote_ranks) != len(op_types) or len(shapes) != received or len(dtypes) != received:
            raise ValueError(
                f"For '{self.name}', 'remote_ranks' must have {len(op_types)} entries, 'receive_shapes' and "
                f"'receive_dtypes' {received}, but got {len(remote_ranks)}, {len(shapes)} and {len(dtypes)}."
            )
        self.op_types = list(op_types)
        self.remote_ranks = [check_int(r, "remote_ranks", self.name) for r in remote_ranks]
        self.receive_shapes = [check_shape(shape, "receive_shapes", self.name) for shape in shapes]
        self.receive_dtypes = [mstype.to_numpy(dtype) for dtype in dtypes]
        self.group = check_group_name(group, self.name)

    def __call__(self, tensors: Any) -> tuple:
        if not isinstance(tensors, (list, tuple)):
            raise TypeError(f"For '{self.name}', the input must be a tuple of Tensors, but got {tensors!r}.")
        return super().__call__(*[check_tensor(t, "tensors", self.name) for t in tensors])

    def forward(self, *arrays: np.ndarray) -> tuple:
        """Post all messages and wait for them."""
        comm = comm_for(self.group, self.name)
        if len(arrays) != self.op_types.count("isend"):
            raise ValueError(
                f"For '{self.name}', the input must have {self.op_types.count('isend')} tensors to send, but got "
                f"{len(arrays)}."
            )
        to_send = iter(arrays)
        received = iter(zip(self.receive_shapes, self.receive_dtypes, strict=True))
        outgoing, incoming, results = [], [], []
        for kind, rank in zip(self.op_types, self.remote_ranks, strict=True):
            check_rank_in(rank, "remote_ranks", self.name, comm)
            if kind == "isend":
                array = next(to_send)
                outgoing.append((rank, array))
                results.append(np.zeros((), array.dtype))
            else:
                results.append(np.empty(*next(received)))
                incoming.append((rank, results[-1]))
        comm.post_exchange(outgoing, incoming).wait()
        return tuple(results)
