"""Matrices of powers."""

from __future__ import annotations

import numpy as np

from dist_ms import ops
from dist_ms.common.error_classes import bools, plain
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import integer, tensor
from dist_ms.ops.shaping.reshaping import expand_dims

__all__ = ["vander"]


@bools("N")
@plain("N")
def vander(x: Tensor, N: int | None = None) -> Tensor:
    """Make the matrix of the powers of a vector, highest first.

    Args:
        x: a Tensor with one dimension.
        N: number of columns, its length by default.

    Returns:
        Tensor (length of x, N).

    Raises:
        ValueError: if `x` is no vector, or `N` not positive.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.vander(ms.Tensor([2.0, 3.0]), 3))
        [[4. 2. 1.]
         [9. 3. 1.]]
    """
    if tensor(x, "x", "vander").ndim != 1:
        raise ValueError(f"For 'vander', 'x' must have 1 dimension, but got {x.ndim}.")
    columns = x.size if N is None else integer(N, "N", "vander")
    if columns < 1:
        raise ValueError(f"For 'vander', 'N' must be positive, but got {N}.")
    return ops.pow(expand_dims(x, 1), Tensor(np.arange(columns - 1, -1, -1).astype(x.array().dtype)))
