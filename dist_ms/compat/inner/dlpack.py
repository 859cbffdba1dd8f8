"""`mindspore.utils.dlpack`: tensors shared with other libraries."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_type
from dist_ms.common.tensor import Tensor

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> Any:
    """Return a capsule with which other libraries share a tensor's memory; see `Tensor.to_dlpack`.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.compat.inner.dlpack import from_dlpack, to_dlpack
        >>> print(from_dlpack(to_dlpack(ms.Tensor([1.0]))))
        [1.]
    """
    return check_type(tensor, "tensor", "to_dlpack", Tensor).to_dlpack()


def from_dlpack(dlpack: Any) -> Tensor:
    """Make a Tensor in the memory of a capsule; see `Tensor.from_dlpack`."""
    return Tensor.from_dlpack(dlpack)
