"""Messages between two ranks as functions: send, receive, without waiting, and in batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.collectives.arguments import (
    WORLD,
    check_group_name,
    check_int,
    check_shape,
    check_tensor,
    comm_for,
    rank_of_world,
)
from dist_ms.collectives.handles import CommHandle
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_elements
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.communication import Handle


def post_send(owner: str, tensor: Any, dst: int, group: Any, tag: int) -> CommHandle:
    """Start to send a tensor to a rank of the world."""
    comm = comm_for(group, owner)
    array = np.array(check_tensor(tensor, "tensor", owner).array(), order="C")
    return CommHandle(comm.post_exchange([(rank_of_world(dst, "dst", owner, comm), array)], [], tag))


def post_receive(owner: str, shape: Sequence[int], dtype: Any, src: int, group: Any, tag: int) -> tuple:
    """Start to receive from a rank of the world; return the tensor that will hold the message, and the handle."""
    comm = comm_for(group, owner)
    array = np.empty(shape, mstype.to_numpy(dtype))
    return wrap(array), comm.post_exchange([], [(rank_of_world(src, "src", owner, comm), array)], tag)


class P2POp:
    """A message of a batch: to be sent or received.

    Args:
        op: "isend" or "irecv", or the function of that name.
        tensor: what is sent; for a receive a Tensor of the shape and type that comes, or only its shape.
        peer: the other rank, in the world.
        group: the group; default: all ranks.
        tag: tells messages between two ranks apart, 0 to 32767.
        recv_dtype: the type that comes, where `tensor` is only a shape.

    Raises:
        TypeError: if an argument is of the wrong type, or a receive by shape names no type.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.communication.comm_func import P2POp
        >>> P2POp("irecv", (2, 3), 0, recv_dtype=ms.float32).op
        'irecv'
    """

    def __init__(
        self, op: Any, tensor: Any, peer: int, group: Any = None, tag: int = 0, recv_dtype: Any = None
    ) -> None:
        name = getattr(op, "__name__", op)
        if name not in ("isend", "irecv"):
            raise TypeError(f"For 'P2POp', 'op' must be isend or irecv, but got {op!r}.")
        if name == "isend" or isinstance(tensor, Tensor):
            check_tensor(tensor, "tensor", "P2POp")
        else:
            tensor = check_shape(tensor, "tensor", "P2POp")
            if recv_dtype is None:
                raise TypeError("For 'P2POp', 'recv_dtype' must be a type where 'tensor' is a shape, but got None.")
        self.op, self.tensor, self.recv_dtype = name, tensor, recv_dtype
        self.peer, self.tag = check_int(peer, "peer", "P2POp"), check_int(tag, "tag", "P2POp")
        self.group = check_group_name(group, "P2POp")

    def post(self) -> tuple[Tensor, Handle]:
        """Start it; return the tensor that comes (a zero for one that is sent) and the handle."""
        if self.op == "isend":
            handle = post_send("isend", self.tensor, self.peer, self.group, self.tag)
            return wrap(np.zeros((), self.tensor.dtype.np)), handle
        by_tensor = isinstance(self.tensor, Tensor)
        shape = self.tensor.shape if by_tensor else self.tensor
        dtype = self.tensor.dtype if by_tensor and self.recv_dtype is None else self.recv_dtype
        return post_receive("irecv", shape, dtype, self.peer, self.group, self.tag)


def post_batch(owner: str, batch: Any) -> list[tuple[P2POp, Tensor, Handle]]:
    """Start every message of a batch, sends first: alone, a rank can only receive what it has sent.

    Raises:
        TypeError: if the batch is no list of P2POp.
        ValueError: if it is empty.
    """
    if not check_elements(batch, "p2p_op_list", owner, P2POp):
        raise ValueError(f"For '{owner}', 'p2p_op_list' must not be empty.")
    started: dict[int, tuple] = {}
    for kind in ("isend", "irecv"):
        for i, item in enumerate(batch):
            if item.op == kind:
                started[i] = (item, *item.post())
    return [started[i] for i in range(len(batch))]


def send(tensor: Tensor, dst: int = 0, group: str = WORLD, tag: int = 0) -> None:
    """Send a tensor to a rank, which receives it with `recv`.

    Args:
        tensor: what is sent.
        dst: the rank of the world that gets it.
        group: the group; default: all ranks.
        tag: tells messages between two ranks apart, 0 to 32767.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such rank or tag.
        RuntimeError: before init(), or if the other rank has ended.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.communication.comm_func import recv, send
        >>> ms.communication.init()
        >>> send(ms.Tensor([1.0, 2.0]), 0)
        >>> print(recv(ms.Tensor([0.0, 0.0]), 0))
        [1. 2.]
    """
    comm = comm_for(group, "send")
    comm.send(check_tensor(tensor, "tensor", "send").array(), rank_of_world(dst, "dst", "send", comm), tag)


def recv(tensor: Tensor, src: int = 0, group: str = WORLD, tag: int = 0) -> Tensor:
    """Receive the tensor that a rank sends with `send`.

    Args:
        tensor: of the shape and type that comes; its values are not changed.
        src: the rank of the world that sends.
        group: the group; default: all ranks.
        tag: tells messages between two ranks apart, 0 to 32767.

    Returns:
        A new Tensor.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such rank or tag, or a tensor of another size comes.
        RuntimeError: before init(), or if the other rank has ended.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.communication.comm_func import recv, send
        >>> ms.communication.init()
        >>> send(ms.Tensor([1, 2]), 0)
        >>> print(recv(ms.Tensor([0, 0]), 0))
        [1 2]
    """
    comm = comm_for(group, "recv")
    check_tensor(tensor, "tensor", "recv")
    array = np.empty(tensor.shape, tensor.dtype.np)
    return wrap(comm.recv(array, rank_of_world(src, "src", "recv", comm), tag))


def isend(tensor: Tensor, dst: int = 0, group: str = WORLD, tag: int = 0) -> CommHandle:
    """`send` that returns at once, with a handle; what is sent are the tensor's present values.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.communication.comm_func import irecv, isend
        >>> ms.communication.init()
        >>> sent = isend(ms.Tensor([1.0, 2.0]), 0)
        >>> output, handle = irecv(ms.Tensor([0.0, 0.0]), 0)
        >>> handle.wait()
        >>> print(output)
        [1. 2.]
    """
    return post_send("isend", tensor, dst, group, tag)


def irecv(tensor: Tensor, src: int = 0, group: str = WORLD, tag: int = 0) -> tuple[Tensor, CommHandle]:
    """`recv` that returns at once: (a new Tensor, the handle after whose `wait()` it is complete).

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.communication.comm_func import irecv, isend
        >>> ms.communication.init()
        >>> _ = isend(ms.Tensor([3]), 0)
        >>> output, handle = irecv(ms.Tensor([0]), 0)
        >>> handle.wait()
        >>> print(output)
        [3]
    """
    check_tensor(tensor, "tensor", "irecv")
    output, handle = post_receive("irecv", tensor.shape, tensor.dtype, src, group, tag)
    return output, CommHandle(handle)


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> tuple[Tensor, ...]:
    """Send and receive several tensors at once.

    Args:
        p2p_op_list: the messages.

    Returns:
        A Tensor per message: what came; a zero for one that was sent.

    Raises:
        TypeError: if the argument is no list of P2POp.
        ValueError: if it is empty, or names a rank that there is not.
        RuntimeError: before init(), or if another rank has ended.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.communication.comm_func import P2POp, batch_isend_irecv
        >>> ms.communication.init()
        >>> batch = [P2POp("isend", ms.Tensor([1.0]), 0), P2POp("irecv", ms.Tensor([0.0]), 0)]
        >>> print(batch_isend_irecv(batch)[1])
        [1.]
    """
    started = post_batch("batch_isend_irecv", p2p_op_list)
    for _, _, handle in started:
        handle.wait()
    return tuple(tensor for _, tensor, _ in started)
