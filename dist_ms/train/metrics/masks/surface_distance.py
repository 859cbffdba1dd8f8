"""MeanSurfaceDistance and RootMeanSquareDistance: how far two surfaces lie apart on average."""

from __future__ import annotations

import math

import numpy as np

from dist_ms.common.checks import check_bool
from dist_ms.train.metrics.masks.surfaces import OfSurfaces, surface_distances


class _SurfaceDistance(OfSurfaces):
    def __init__(self, symmetric: bool = False, distance_metric: str = "euclidean") -> None:
        super().__init__(distance_metric)
        self.symmetric = check_bool(symmetric, "symmetric", type(self).__name__)

    def _both(self) -> list[np.ndarray]:
        """Return the distances there and, where asked for, back."""
        self._need(self._is_update)
        a, b, kind = self.y_pred_edges, self.y_edges, self.distance_metric
        there = surface_distances(a, b, kind)
        return [there, surface_distances(b, a, kind)] if self.symmetric else [there]


class MeanSurfaceDistance(_SurfaceDistance):
    r"""The mean distance of the output's surface to the label's, for the latest image.

    .. math:: \text{MSD} = \frac{1}{|A|} \sum_{a \in A} \min_{b \in B} \|a - b\|

    Args:
        symmetric: the mean of this and the distance back.
        distance_metric: "euclidean", "chessboard" or "taxicab".

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: for another `distance_metric`.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> metric = ms.train.MeanSurfaceDistance()
        >>> metric.update(np.array([[1, 1, 0]]), np.array([[0, 1, 1]]), 1)
        >>> metric.eval()
        0.5
    """

    def eval(self) -> float:
        """Return the distance; infinite where a mask is empty.

        Raises:
            RuntimeError: if nothing was seen.
        """
        found = self._both()
        if any(d.size == 0 for d in found):
            return float("inf")
        return np.mean([d.mean() for d in found]).item()


class RootMeanSquareDistance(_SurfaceDistance):
    r"""The mean squared distance of the output's surface to the label's, for the latest image.

    .. math:: \text{RMSD} = \sqrt{\frac{1}{2}\Big(\frac{1}{|A|} \sum_{a \in A} d(a, B)^2 +
        \frac{1}{|B|} \sum_{b \in B} d(b, A)^2\Big)}

    Without `symmetric` it is the first mean alone and, as in MindSpore, no root is taken.

    Args:
        symmetric: take the distances back into account.
        distance_metric: "euclidean", "chessboard" or "taxicab".

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: for another `distance_metric`.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> metric = ms.train.RootMeanSquareDistance(symmetric=True)
        >>> metric.update(np.array([[1, 0, 0]]), np.array([[0, 0, 1]]), 1)
        >>> metric.eval()
        2.0
    """

    _label_error = TypeError

    def eval(self) -> float:
        """Return the distance; infinite where a mask is empty.

        Raises:
            RuntimeError: if nothing was seen.
        """
        found = self._both()
        if any(d.size == 0 for d in found):
            return float("inf")
        squares = np.mean([(d**2).mean() for d in found]).item()
        return math.sqrt(squares) if self.symmetric else squares
