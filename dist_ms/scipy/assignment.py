"""linear_sum_assignment: which row takes which column for the least cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, complaint
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.kernels import optimize

__all__ = ["linear_sum_assignment"]


def linear_sum_assignment(cost_matrix: Tensor, maximize: bool, dimension_limit: Any = None) -> tuple[Tensor, Tensor]:
    """Give each row a column of its own, for the least sum of costs.

    Args:
        cost_matrix: (n, m), real numbers.
        maximize: find the largest sum instead.
        dimension_limit: a Tensor of one integer: how many columns count; None for all.

    Returns:
        (rows in rising order, their columns), int64 of the smaller length.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `cost_matrix` is no matrix of finite numbers.

    Examples:
        >>> import dist_ms as ms
        >>> cost = ms.Tensor([[4.0, 1.0], [2.0, 0.0]])
        >>> print(*ms.scipy.optimize.linear_sum_assignment(cost, False))
        [0 1] [1 0]
    """
    owner = "linear_sum_assignment"
    if not isinstance(cost_matrix, Tensor):
        raise TypeError(complaint("cost_matrix", owner, "a Tensor", type(cost_matrix).__name__))
    cost = cost_matrix.asnumpy()
    if cost.dtype.kind not in "buif":
        raise TypeError(complaint("cost_matrix", owner, "of real numbers", cost_matrix.dtype))
    if cost.ndim != 2 or not np.isfinite(cost).all():
        raise ValueError(complaint("cost_matrix", owner, "a matrix of finite numbers", f"shape {cost.shape}"))
    if check_bool(maximize, "maximize", owner):
        cost = -cost.astype(np.float64)
    if dimension_limit is not None:
        limit = dimension_limit.item() if isinstance(dimension_limit, Tensor) else dimension_limit
        if isinstance(limit, bool) or not isinstance(limit, int):
            raise TypeError(complaint("dimension_limit", owner, "one integer", type(dimension_limit).__name__))
        cost = cost[:, : max(limit, 0)]
    rows, columns = optimize.linear_sum_assignment(cost)
    return wrap(rows), wrap(columns)
