"""Messages between two ranks that write into the tensor they are given."""

from __future__ import annotations

from collections.abc import Sequence

from dist_ms.collectives.arguments import check_tensor
from dist_ms.collectives.handles import CommHandle
from dist_ms.collectives.messages import P2POp, isend, post_batch, post_receive
from dist_ms.collectives.messages import send as _send
from dist_ms.collectives.movement import Finishing
from dist_ms.common.tensor import Tensor

__all__ = ["batch_isend_irecv", "irecv", "isend", "recv", "send"]


def send(tensor: Tensor, dst: int = 0, group: str | None = None, tag: int = 0) -> int:
    """`communication.comm_func.send` after `init_process_group`; it returns 0.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import init_process_group, recv, send
        >>> init_process_group()
        >>> _ = send(ms.Tensor([1.0, 2.0]), 0)
        >>> x = ms.Tensor([0.0, 0.0])
        >>> _ = recv(x, 0)
        >>> print(x)
        [1. 2.]
    """
    _send(tensor, dst, group, tag)
    return 0


def recv(tensor: Tensor, src: int = 0, group: str | None = None, tag: int = 0) -> int:
    """Overwrite the tensor with the one that a rank sends.

    Args:
        tensor: of the shape and type that comes.
        src: the rank of the world that sends.
        group: the group; default: all ranks.
        tag: tells messages between two ranks apart, 0 to 32767.

    Returns:
        0.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such rank or tag, or a tensor of another size comes.
        RuntimeError: before init_process_group(), or if the other rank has ended.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import init_process_group, recv, send
        >>> init_process_group()
        >>> _ = send(ms.Tensor([1, 2]), 0)
        >>> x = ms.Tensor([0, 0])
        >>> _ = recv(x, 0)
        >>> print(x)
        [1 2]
    """
    irecv(tensor, src, group, tag).wait()
    return 0


def irecv(tensor: Tensor, src: int = 0, group: str | None = None, tag: int = 0) -> CommHandle:
    """Start to receive; the tensor is overwritten when the handle's `wait()` returns.

    Args:
        tensor: of the shape and type that comes.
        src: the rank of the world that sends.
        group: the group; default: all ranks.
        tag: tells messages between two ranks apart, 0 to 32767.

    Returns:
        The handle.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if there is no such rank or tag; on waiting, if a tensor of another size comes.
        RuntimeError: before init_process_group().

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import init_process_group, irecv, isend
        >>> init_process_group()
        >>> _ = isend(ms.Tensor([1.0, 2.0]), 0)
        >>> x = ms.Tensor([0.0, 0.0])
        >>> irecv(x, 0).wait()
        >>> print(x)
        [1. 2.]
    """
    check_tensor(tensor, "tensor", "irecv")
    came, handle = post_receive("irecv", tensor.shape, tensor.dtype, src, group, tag)
    return CommHandle(Finishing(handle, lambda: tensor.copy_(came)))


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[CommHandle]:
    """Start to send and receive several tensors.

    Args:
        p2p_op_list: the messages; a received one overwrites its tensor when its handle's `wait()` returns.

    Returns:
        A handle per message.

    Raises:
        TypeError: if the argument is no list of P2POp.
        ValueError: if it is empty, or names a rank that there is not.
        RuntimeError: before init_process_group(), or if another rank has ended.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.distributed import P2POp, batch_isend_irecv, init_process_group
        >>> init_process_group()
        >>> x = ms.Tensor([0.0])
        >>> handles = batch_isend_irecv([P2POp("isend", ms.Tensor([1.0]), 0), P2POp("irecv", x, 0)])
        >>> for handle in handles:
        ...     handle.wait()
        >>> print(x)
        [1.]
    """
    handles = []
    for message, came, handle in post_batch("batch_isend_irecv", p2p_op_list):
        if message.op == "irecv":
            target = check_tensor(message.tensor, "tensor", "batch_isend_irecv")
            handle = Finishing(handle, lambda target=target, came=came: target.copy_(came))
        handles.append(CommHandle(handle))
    return handles
