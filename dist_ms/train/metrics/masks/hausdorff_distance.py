"""HausdorffDistance: how far two surfaces lie apart where they are farthest."""

from __future__ import annotations

import numpy as np

from dist_ms.common.checks import check_bool, check_float
from dist_ms.train.metrics.masks.surfaces import OfSurfaces, surface_distances


class HausdorffDistance(OfSurfaces):
    r"""The Hausdorff distance of the latest image.

    .. math:: H(A, B) = \max\big(\max_{a \in A} \min_{b \in B} \|a - b\|,
        \max_{b \in B} \min_{a \in A} \|a - b\|\big)

    Args:
        distance_metric: "euclidean", "chessboard" or "taxicab".
        percentile: take this percentile, a float from 0 to 100, instead of the largest distance.
        directed: from the output to the label only.
        crop: look only at the box that holds both masks.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: for another `distance_metric`.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> metric = ms.train.HausdorffDistance()
        >>> metric.update(np.array([[1, 0, 0]]), np.array([[0, 0, 1]]), 1)
        >>> metric.eval()
        2.0
    """

    _as_masks = False

    def __init__(
        self,
        distance_metric: str = "euclidean",
        percentile: float | None = None,
        directed: bool = False,
        crop: bool = True,
    ) -> None:
        super().__init__(distance_metric)
        owner = "HausdorffDistance"
        if percentile is not None:
            check_float(percentile, "percentile", owner)
        for name, value in (("directed", directed), ("crop", crop)):
            if value is not None:
                check_bool(value, name, owner)
        self.percentile, self.directed, self.crop = percentile, directed, crop

    def _looked_at(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _cropped(a, b) if self.crop else (a, b)

    def eval(self) -> float:
        """Return the distance; infinite where one mask is empty.

        Raises:
            RuntimeError: if nothing was seen.
            ValueError: if `percentile` is out of range.
        """
        self._need(self._is_update)
        there = self._directed(self.y_pred_edges, self.y_edges)
        return there if self.directed else max(there, self._directed(self.y_edges, self.y_pred_edges))

    def _directed(self, of: np.ndarray, to: np.ndarray) -> float:
        found = surface_distances(of, to, self.distance_metric)
        if found.size == 0:
            return float("inf")
        if not self.percentile:
            return found.max().item()
        if not 0 <= self.percentile <= 100:
            raise ValueError(f"For 'HausdorffDistance', 'percentile' must be in [0, 100], but got {self.percentile}.")
        return np.percentile(found, self.percentile).item()


def _cropped(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cut two masks to the box that holds both; axes along which it is one wide fall away."""
    places = np.nonzero(a | b)
    if places[0].size == 0:
        return a, b
    box = tuple(slice(p.min(), p.max() + 1) for p in places)
    return np.squeeze(a[box]), np.squeeze(b[box])
