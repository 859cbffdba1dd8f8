"""MindSpore's door to collectives that write into their tensors; they live floors above, in `mint.distributed`."""

from __future__ import annotations

from dist_ms.common.checks import check_bool
from dist_ms.mint.distributed import *  # noqa: F403
from dist_ms.mint.distributed import P2POp as P2POp
from dist_ms.mint.distributed import TCPStore as TCPStore
from dist_ms.mint.distributed.in_one import *  # noqa: F403


def set_comm_ops_inplace(is_enable: bool, func_list: list | None = None) -> None:
    """Have these functions write into the tensors they are given, which they always do here.

    Args:
        is_enable: must be True.
        func_list: the functions meant; None for all.

    Raises:
        TypeError: if an argument is of the wrong type.
        NotImplementedError: if `is_enable` is False.

    Examples:
        >>> from dist_ms.ops.communication import set_comm_ops_inplace
        >>> set_comm_ops_inplace(True)
    """
    check_bool(is_enable, "is_enable", "set_comm_ops_inplace")
    if func_list is not None and not isinstance(func_list, list):
        raise TypeError(f"For 'set_comm_ops_inplace', 'func_list' must be None or a list, but got {func_list!r}.")
    if not is_enable:
        raise NotImplementedError(
            "For 'set_comm_ops_inplace', 'is_enable' must be True, but got False: the functions of "
            "communication.comm_func return new tensors."
        )
