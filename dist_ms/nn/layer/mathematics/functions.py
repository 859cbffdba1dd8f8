"""Range and ReduceLogSumExp."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool, check_type
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell

__all__ = ["Range", "ReduceLogSumExp"]


class Range(Cell):
    """Numbers from `start` up to but without `limit` in steps of `delta`.

    Args:
        start: the first number; the limit, with 0 as the first, when `limit` is None.
        limit: where the numbers end.
        delta: the step, not 0.

    Outputs:
        Tensor int32, or float32 if one of the arguments is a float.

    Raises:
        ValueError: if `delta` is 0.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.Range(1, 8, 2)())
        [1 3 5 7]
    """

    def __init__(self, start: float, limit: float | None = None, delta: float = 1) -> None:
        super().__init__()
        if delta == 0:
            raise ValueError("For 'Range', 'delta' must be another number than 0.")
        data = np.arange(start, limit, delta)
        self.ms_dtype = mstype.float32 if data.dtype == np.float64 else mstype.int32
        self.result_tensor = Tensor(data, dtype=self.ms_dtype)

    def construct(self) -> Tensor:
        return self.result_tensor


class ReduceLogSumExp(Cell):
    """`ops.logsumexp` as a layer: `ReduceLogSumExp(axis, keep_dims)(x)`."""

    def __init__(self, axis: Any, keep_dims: bool = False) -> None:
        super().__init__()
        self.axis = check_type(axis, "axis", "ReduceLogSumExp", (int, list, tuple))
        self.keep_dims = check_bool(keep_dims, "keep_dims", "ReduceLogSumExp")

    def construct(self, x: Tensor) -> Tensor:
        return ops.logsumexp(x, self.axis, self.keep_dims)
