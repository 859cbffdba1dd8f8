"""MeanSurfaceDistance and RootMeanSquareDistance: how far two surfaces lie apart on average."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_string
from dist_ms.train.metrics.masks.surfaces import DISTANCES, checked_masks, edges, surface_distances
from dist_ms.train.metrics.metric import Metric, rearrange_inputs


class _SurfaceDistance(Metric):
    """The surfaces of the latest image's masks."""

    latest = ("_y_pred_edges", "_y_edges", "_is_update")
    _label_error: type[Exception] = ValueError

    def __init__(self, symmetric: bool = False, distance_metric: str = "euclidean") -> None:
        super().__init__()
        owner = type(self).__name__
        check_string(distance_metric, "distance_metric", owner)
        self.distance_metric = check_string(distance_metric, "distance_metric", owner, DISTANCES)
        self.symmetric = check_bool(symmetric, "symmetric", owner)
        self.clear()

    def clear(self) -> None:
        """Forget everything seen."""
        self._y_pred_edges: Any = 0
        self._y_edges: Any = 0
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """See one image, in the place of the one before.

        Args:
            inputs: the output and the label image, of one shape, and the label whose masks are
                compared.

        Raises:
            TypeError, ValueError: if the number of inputs, the shapes or the label do not fit.
        """
        y_pred, y, label = self._expect(inputs, "output", "label", "label index")
        owner = f"{type(self).__name__}.update"
        y_pred, y = self._convert_data(y_pred), self._convert_data(y)
        if not isinstance(label, (int, float)):
            raise self._label_error(
                f"For '{owner}', the label index must be an int or a float, but got {type(label).__name__}."
            )
        masks = checked_masks(owner, label, y_pred, y, as_masks=True)
        self._y_pred_edges, self._y_edges = map(edges, masks)
        self._is_update = True

    def _both(self) -> list[np.ndarray]:
        """Return the distances there and, where asked for, back."""
        self._need(self._is_update)
        a, b, kind = self._y_pred_edges, self._y_edges, self.distance_metric
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
