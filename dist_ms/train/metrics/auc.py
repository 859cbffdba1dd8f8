"""auc: the area under a curve."""

from __future__ import annotations

import numpy as np


def auc(x: np.ndarray, y: np.ndarray, reorder: bool = False) -> float:
    """Return the area under a curve of points, by the trapezoidal rule.

    Args:
        x: the points' x, (N,) or (N, 1), rising or falling throughout; N at least 2.
        y: their y.
        reorder: sort the points by x (and y) first.

    Returns:
        The area.

    Raises:
        TypeError: if `x` or `y` is no numpy.ndarray or has no dimension.
        ValueError: if lengths or shapes do not fit, or `x` goes up and down without `reorder`.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> ms.train.auc(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0]))
        0.75
    """
    if not isinstance(x, np.ndarray) or not isinstance(y, np.ndarray):
        raise TypeError(
            f"For 'auc', 'x' and 'y' must be numpy.ndarrays, but got {type(x).__name__} and {type(y).__name__}."
        )
    if not (x.ndim and y.ndim):
        raise TypeError("For 'auc', 'x' and 'y' must have at least one dimension, but got none.")
    if len(x) != len(y):
        raise ValueError(f"For 'auc', 'x' and 'y' must have one length, but got {len(x)} and {len(y)}.")
    x, y = _column("x", x), _column("y", y)
    if len(x) < 2:
        raise ValueError(f"For 'auc', 'x' must have at least 2 points, but got {len(x)}.")
    if reorder:
        order = np.lexsort((y, x))
        x, y = x[order], y[order]
    steps = np.diff(x)
    if (steps >= 0).all():
        direction = 1
    elif (steps <= 0).all():
        direction = -1
    else:
        raise ValueError(f"For 'auc', 'x' must only rise or only fall, but got {x}. Set 'reorder' to sort it.")
    return float(direction * np.sum(steps * (y[1:] + y[:-1]) / 2.0))


def _column(name: str, values: np.ndarray) -> np.ndarray:
    """Return the values as one dimension."""
    if values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1):
        return values.ravel()
    raise ValueError(f"For 'auc', '{name}' must have shape (N,) or (N, 1), but got {values.shape}.")
