"""Counts of elements in bins, along one axis or several."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_dimensions
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.numpy.arguments import FLOAT32, cast, tensor_of

__all__ = ["histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Tensor:
    """Return the edges of bins.

    Args:
        a: the elements, a Tensor or numbers.
        bins: how many of equal width, or the edges themselves.
        range: (least, largest) edge, by default those of the elements.
        weights: not needed; it is there for `histogram`'s order of arguments.

    Raises:
        NotImplementedError: for bins named by a string, which MindSpore has not.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.histogram_bin_edges(mnp.array([0, 1, 4]), bins=2))
        [0. 2. 4.]
    """
    if isinstance(bins, str):
        raise NotImplementedError("For 'histogram_bin_edges', 'bins' by name does not exist in MindSpore either.")
    if not isinstance(bins, int):
        edges = tensor_of(bins, "bins", "histogram_bin_edges")
        check_dimensions(edges, "bins", "histogram_bin_edges", 1)
        return edges
    if bins < 1:
        raise ValueError(f"For 'histogram_bin_edges', 'bins' must be positive, but got {bins}.")
    values = tensor_of(a, "a", "histogram_bin_edges").asnumpy().astype(FLOAT32)
    return wrap(np.histogram_bin_edges(values, bins, None if range is None else tuple(range)).astype(FLOAT32))


def _bins(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The bin of each value, the last one with its right edge; -1 outside."""
    found = np.searchsorted(edges, values, "right") - 1
    found[values == edges[-1]] = len(edges) - 2
    return np.where((found < 0) | (found >= len(edges) - 1), -1, found)


def histogramdd(sample: Any, bins: Any = 10, range: Any = None, weights: Any = None,
                density: bool = False) -> tuple[Tensor, list[Tensor]]:  # fmt: skip
    """Count points in boxes.

    Args:
        sample: a matrix with one point in each row, or a sequence of one row for each coordinate.
        bins: how many bins, for all coordinates or for each, or their edges.
        range: (least, largest) edge for each coordinate.
        weights: how much each point counts.
        density: return densities, whose integral is 1, instead of counts.

    Returns:
        Tensor of float32, and the edges along each axis in a list.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> counts, edges = mnp.histogramdd(mnp.array([[0, 0], [1, 1]]), bins=2)
        >>> print(counts)
        [[1. 0.]
         [0. 1.]]
    """
    if isinstance(sample, Tensor):
        points = ops.reshape(sample, (-1, 1)) if sample.ndim == 1 else sample
        columns = list(points.asnumpy().T)
    else:
        columns = [tensor_of(s, "sample", "histogramdd").asnumpy() for s in sample]
    several = [bins] * len(columns) if isinstance(bins, int) else list(bins)
    if len(several) != len(columns):
        raise ValueError(f"For 'histogramdd', 'bins' must hold {len(columns)} items, but got {len(several)}.")
    ranges = range or [None] * len(columns)
    edges = [histogram_bin_edges(wrap(np.ascontiguousarray(c)), b, r)
             for c, b, r in zip(columns, several, ranges, strict=True)]  # fmt: skip
    shape = tuple(e.size - 1 for e in edges)
    places = [_bins(c.astype(FLOAT32), e.asnumpy().astype(FLOAT32)) for c, e in zip(columns, edges, strict=True)]
    inside = np.all([p >= 0 for p in places], axis=0)
    flat = np.where(inside, np.ravel_multi_index([np.maximum(p, 0) for p in places], shape), 0)
    amounts = wrap(inside.astype(FLOAT32))
    if weights is not None:
        weights = cast(tensor_of(weights, "weights", "histogramdd"), FLOAT32)
        if weights.shape != amounts.shape:
            raise ValueError(
                f"For 'histogramdd', 'weights' must have the shape {amounts.shape}, but got {weights.shape}."
            )
        amounts = ops.mul(amounts, weights)
    counts = ops.reshape(ops.unsorted_segment_sum(amounts, wrap(flat.astype(np.int64)), int(np.prod(shape))), shape)
    if density:
        counts = ops.div(counts, ops.sum(counts))
        for axis, e in enumerate(edges):
            widths = np.diff(e.asnumpy().astype(FLOAT32))
            counts = ops.div(counts, wrap(widths.reshape((-1,) + (1,) * (len(shape) - axis - 1))))
    return counts, edges


def histogram(a: Any, bins: Any = 10, range: Any = None, weights: Any = None,
              density: bool = False) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Count elements in bins; each but the last leaves out its right edge.

    Args:
        a: the elements, a Tensor or numbers.
        bins: how many, or their edges.
        range: (least, largest) edge.
        weights: how much each element counts.
        density: return densities, whose integral is 1, instead of counts.

    Returns:
        Tensor of float32 and Tensor of the edges.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> counts, edges = mnp.histogram([1, 2, 1], bins=[0, 1, 2, 3])
        >>> print(counts, edges)
        [0. 2. 1.] [0 1 2 3]
    """
    a = ops.reshape(tensor_of(a, "a", "histogram"), (-1,))
    if weights is not None:
        weights = ops.reshape(tensor_of(weights, "weights", "histogram"), (-1,))
    counts, edges = histogramdd((a,), [bins], None if range is None else [range], weights, density)
    return counts, edges[0]


def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, weights: Any = None,
                density: bool = False) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Count points of the plane in boxes; see `histogramdd`.

    Returns:
        Tensor of float32, the edges along `x` and those along `y`.
    """
    if not isinstance(bins, int) and len(bins) != 2:
        bins = [bins, bins]
    counts, edges = histogramdd((x, y), bins, range, weights, density)
    return counts, edges[0], edges[1]
