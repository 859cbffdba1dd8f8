"""Tensors: the class, what it is made from, how it prints, and its sparse and postponed kin."""

from dist_ms.common.tensor.tensor import (
    Tensor,
    _restore,
    from_array,
    from_numpy,
    frombuffer,
    is_tensor,
    meta,
    tensor,
    to_array,
    wrap,
)

__all__ = ["Tensor", "from_array", "from_numpy", "frombuffer", "is_tensor", "tensor", "to_array", "wrap"]
