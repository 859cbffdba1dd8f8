"""Surfaces of masks and the distances between them, without SciPy.

A distance transform goes axis by axis: after the axes so far, an element holds the distance to
the nearest surface element that differs from it along those axes alone. One more axis takes,
for every shift along it, the smaller of what is there and what the shifted element gives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

DISTANCES = ("euclidean", "chessboard", "taxicab")

# How a distance d along the axes so far and a shift s along the next become one (squared for
# euclidean).
_COMBINE: dict[str, Callable] = {
    "euclidean": lambda d, s: d + s * s,
    "chessboard": np.maximum,
    "taxicab": lambda d, s: d + s,
}


def edges(mask: np.ndarray) -> np.ndarray:
    """Return the elements of a mask that touch, along an axis, one outside it or the border."""
    inside = mask.copy()
    for axis in range(mask.ndim):
        padded = np.pad(mask, [(1, 1) if a == axis else (0, 0) for a in range(mask.ndim)])
        inside &= np.take(padded, range(mask.shape[axis]), axis)
        inside &= np.take(padded, range(2, mask.shape[axis] + 2), axis)
    return mask & ~inside


def distances(surface: np.ndarray, kind: str) -> np.ndarray:
    """Return every element's distance to the nearest element of a surface that is not empty.

    Args:
        surface: a mask of any dimensions.
        kind: "euclidean" (float64), "chessboard" or "taxicab" (ints).
    """
    far = 4 * sum(n * n for n in surface.shape) + 4  # above every distance
    found = np.where(surface, 0, far).astype(np.int64)
    for axis in range(surface.ndim):
        found = np.moveaxis(_along(np.moveaxis(found, axis, 0), kind), 0, axis)
    return np.sqrt(found) if kind == "euclidean" else found


def _along(found: np.ndarray, kind: str) -> np.ndarray:
    """Take one axis, the first, into account."""
    combine, nearest = _COMBINE[kind], found.copy()
    for shift in range(1, len(found)):
        # A shift costs at least as much as the shift alone.
        if combine(0, shift) >= nearest.max(initial=0):
            break
        there = combine(found[shift:], shift)
        back = combine(found[:-shift], shift)
        np.minimum(nearest[:-shift], there, out=nearest[:-shift])
        np.minimum(nearest[shift:], back, out=nearest[shift:])
    return nearest


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
