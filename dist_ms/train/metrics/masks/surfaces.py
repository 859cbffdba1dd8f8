"""Surfaces of masks and the distances between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_string
from dist_ms.train.metrics.metric import Metric, rearrange_inputs

DISTANCES = ("euclidean", "chessboard", "taxicab")


def edges(mask: np.ndarray) -> np.ndarray:
    """Return the elements of a mask that touch, along an axis, one outside it or the border."""
    from scipy import ndimage

    return mask & ~ndimage.binary_erosion(mask)


def distances(surface: np.ndarray, kind: str) -> np.ndarray:
    """Return every element's distance to the nearest element of a surface that is not empty.

    Args:
        surface: a mask of any dimensions.
        kind: "euclidean" (float64), "chessboard" or "taxicab" (ints).
    """
    from scipy import ndimage

    if kind == "euclidean":
        return ndimage.distance_transform_edt(~surface)
    return ndimage.distance_transform_cdt(~surface, kind)


def surface_distances(of: np.ndarray, to: np.ndarray, kind: str) -> np.ndarray:
    """Return the distance of every element of one surface to another.

    Returns:
        A one-dimensional array, empty if `of` is; infinite if only `to` is empty.
    """
    if not of.any():
        return np.array([])
    if not to.any():
        return np.full(int(of.sum()), np.inf)
    return distances(to, kind)[of]


def checked_masks(owner: str, label: Any, y_pred: np.ndarray, y: np.ndarray, as_masks: bool) -> tuple:
    """Return the two masks of a label; with `as_masks`, boolean images are the masks already.

    Raises:
        ValueError: if the label is in neither image, or the images are empty or of two shapes.
    """
    if label not in y_pred and label not in y:
        raise ValueError(
            f"For '{owner}', the label must be in the outputs or in the labels, but got {label}, which is in neither."
        )
    if y_pred.size == 0 or y_pred.shape != y.shape:
        raise ValueError(
            f"For '{owner}', outputs and labels must have one shape and must not be empty, but got "
            f"shapes {y_pred.shape} and {y.shape}."
        )
    return tuple(a if as_masks and a.dtype == bool else a == label for a in (y_pred, y))


class OfSurfaces(Metric):
    """A metric of the surfaces of the latest image's masks.

    Args:
        distance_metric: "euclidean", "chessboard" or "taxicab".
    """

    latest = ("y_pred_edges", "y_edges", "_is_update")
    _as_masks = True  # boolean images are the masks already
    _label_error: type[Exception] = ValueError

    def __init__(self, distance_metric: str) -> None:
        super().__init__()
        owner = type(self).__name__
        check_string(distance_metric, "distance_metric", owner)
        self.distance_metric = check_string(distance_metric, "distance_metric", owner, DISTANCES)
        self.clear()

    def clear(self) -> None:
        """Forget everything seen."""
        self.y_pred_edges: Any = 0
        self.y_edges: Any = 0
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
        masks = checked_masks(owner, label, y_pred, y, self._as_masks)
        self.y_pred_edges, self.y_edges = map(edges, self._looked_at(*masks))
        self._is_update = True

    def _looked_at(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the parts of the masks that count."""
        return a, b
