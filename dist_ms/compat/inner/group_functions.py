"""`mindspore.communication._comm_helper`: ranks and groups by the names of MindSpore's inner functions."""

from __future__ import annotations

import importlib.util
from typing import Any

from dist_ms.communication.management import (
    GlobalComm,
    create_group,
    destroy_group,
    get_comm_name,
    get_group_rank_from_world_rank,
    get_group_size,
    get_local_rank,
    get_local_rank_size,
    get_process_group_ranks,
    get_rank,
    get_world_rank_from_group_rank,
)

__all__ = ["Backend", "GlobalComm"]

DEVICE_TO_BACKEND = {"Ascend": "hccl", "GPU": "nccl", "CPU": "mccl"}
DEFAULT_BACKEND = "hccl"
DEFAULT_WORLD_COMM_GROUP = GlobalComm.WORLD_COMM_GROUP


class Backend(str):
    """The name of a communication library; here all stand for MPI.

    Raises:
        TypeError: if the name is no str.
        ValueError: if it is none of MindSpore's.

    Examples:
        >>> from dist_ms.compat.inner.group_functions import Backend
        >>> Backend("MCCL")
        'mccl'
    """

    UNDEFINED, HCCL, NCCL, MCCL = "undefined", "hccl", "nccl", "mccl"

    def __new__(cls, name: str) -> Any:
        if not isinstance(name, str):
            raise TypeError(f"For 'Backend', 'name' must be a str, but got {type(name).__name__}.")
        if name.upper() not in ("HCCL", "NCCL", "MCCL"):
            raise ValueError(f"For 'Backend', 'name' must be 'hccl', 'nccl' or 'mccl', but got {name!r}.")
        return str.__new__(str, name.lower())


def _is_initialized() -> bool:
    """Whether `init` was called."""
    return GlobalComm.INITED


def _is_available() -> bool:
    """Whether processes can communicate at all."""
    return True


def _is_mpi_available() -> bool:
    """Whether mpi4py is installed."""
    return importlib.util.find_spec("mpi4py") is not None


def _is_hccl_available() -> bool:
    """Whether there are Ascend devices: no."""
    return False


def _is_nccl_available() -> bool:
    """Whether there are GPUs: no."""
    return False


def _get_backend() -> str:
    """The library that is in use, by MindSpore's name."""
    return GlobalComm.BACKEND


def _get_group(group: str) -> str:
    """A group's name, as it is."""
    return group


_get_rank_helper, _get_size_helper = get_rank, get_group_size
_get_local_rank_helper, _get_local_size_helper = get_local_rank, get_local_rank_size
_get_world_rank_from_group_rank_helper = get_world_rank_from_group_rank
_get_group_rank_from_world_rank_helper = get_group_rank_from_world_rank
_create_group_helper, _destroy_group_helper = create_group, destroy_group
_get_group_ranks, _get_comm_name_helper = get_process_group_ranks, get_comm_name
