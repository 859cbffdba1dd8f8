"""Functions of MindSpore for services beside a device: they change nothing here."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_bool, check_int, check_type, complaint
from dist_ms.common.once import warn_once

__all__ = ["mindio_preload", "set_dump", "set_mindio_server_info"]


def set_dump(target: Any, enabled: bool = True) -> None:
    """Mark a network or operation whose values an Ascend device dumps; on a CPU a warning says that nothing is dumped.

    Args:
        target: a Cell or Primitive.
        enabled: whether they are dumped.

    Raises:
        TypeError: if `enabled` is no bool.
        ValueError: if `target` is neither.

    Examples:
        >>> import dist_ms as ms
        >>> ms.set_dump(ms.nn.ReLU())
    """
    if not (hasattr(target, "construct") or hasattr(target, "add_prim_attr")):
        raise ValueError(complaint("target", "set_dump", "a Cell or a Primitive", target))
    check_bool(enabled, "enabled", "set_dump")
    warn_once("set_dump", "set_dump changes nothing on a CPU; use Cell.register_forward_hook, or ops.TensorDump.")


def set_mindio_server_info(data_block_pool_capacity_in_gb: int = 100) -> None:
    """Say how much memory a service for checkpoints may have; there is none.

    Args:
        data_block_pool_capacity_in_gb: gigabytes.

    Examples:
        >>> import dist_ms as ms
        >>> ms.set_mindio_server_info(10)
    """
    check_int(data_block_pool_capacity_in_gb, "data_block_pool_capacity_in_gb", "set_mindio_server_info")


def mindio_preload(ckpt_file_name: str) -> bool:
    """Have a service read a checkpoint ahead; there is none.

    Args:
        ckpt_file_name: path of the checkpoint.

    Returns:
        bool, whether it is read ahead: False.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mindio_preload("a.ckpt")
        False
    """
    check_type(ckpt_file_name, "ckpt_file_name", "mindio_preload", str)
    return False
