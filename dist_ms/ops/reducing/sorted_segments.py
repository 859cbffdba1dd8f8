"""SegmentSum and its kin: elements gathered in groups whose numbers never fall."""

from __future__ import annotations

import numpy as np

from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import array, integral, tensor
from dist_ms.ops.elementwise.division import true_divide
from dist_ms.ops.picking.selection import where
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.reducing.segments import (
    UnsortedSegmentMax,
    UnsortedSegmentMin,
    UnsortedSegmentProd,
    UnsortedSegmentSum,
)

__all__ = ["SegmentMax", "SegmentMean", "SegmentMin", "SegmentProd", "SegmentSum"]


class SegmentSum(Primitive):
    """The sums of the slices that carry the same number; 0 for a number that none carries.

    Call:
        input_x (Tensor): numbers; the slices are those along the first dimension.
        segment_ids (Tensor): int32 or int64, one a slice, not negative, never falling.

    Returns:
        Tensor with one slice for each number up to the last.

    Raises:
        TypeError: if an argument is no Tensor, or `segment_ids` holds no integers.
        ValueError: if the shapes do not fit, or `segment_ids` fall or are negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.SegmentSum()(ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor([0, 0, 2])))
        [3. 0. 3.]
    """

    grouped: type = UnsortedSegmentSum

    def __call__(self, input_x: Tensor, segment_ids: Tensor) -> Tensor:
        x = array(tensor(input_x, "input_x", self.name).array(), "input_x", self.name)
        ids = integral(tensor(segment_ids, "segment_ids", self.name).array(), "segment_ids", self.name)
        if ids.ndim != 1 or not x.ndim or len(ids) != len(x) or not len(ids):
            raise ValueError(
                f"For '{self.name}', 'segment_ids' must have one number for each slice of 'input_x', at least one, "
                f"but got shapes {ids.shape} and {x.shape}."
            )
        if ids[0] < 0 or (np.diff(ids) < 0).any():
            raise ValueError(f"For '{self.name}', 'segment_ids' must not be negative and not fall, but got {ids}.")
        count = int(ids[-1]) + 1
        sizes = np.bincount(ids, minlength=count).reshape(-1, *[1] * (x.ndim - 1))
        out = self.grouped()(input_x, segment_ids, count)
        return self.finished(out, sizes)

    def finished(self, out: Tensor, sizes: np.ndarray) -> Tensor:
        """The result, given those of groups of some sizes."""
        return out


class SegmentProd(SegmentSum):
    """The products of the slices that carry the same number, 1 for a number that none carries; see `SegmentSum`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.SegmentProd()(ms.Tensor([2.0, 2.0, 3.0]), ms.Tensor([0, 0, 2])))
        [4. 1. 3.]
    """

    grouped = UnsortedSegmentProd


class SegmentMean(SegmentSum):
    """The means of the slices that carry the same number, 0 for a number that none carries; see `SegmentSum`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.SegmentMean()(ms.Tensor([2.0, 4.0, 3.0]), ms.Tensor([0, 0, 2])))
        [3. 0. 3.]
    """

    def finished(self, out: Tensor, sizes: np.ndarray) -> Tensor:
        return true_divide(out, wrap(np.maximum(sizes, 1).astype(out.dtype.np))).astype(out.dtype)


class SegmentMax(SegmentSum):
    """The maxima of the slices that carry the same number, 0 for a number that none carries; see `SegmentSum`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.SegmentMax()(ms.Tensor([2.0, 4.0, 3.0]), ms.Tensor([0, 0, 2])))
        [4. 0. 3.]
    """

    grouped = UnsortedSegmentMax

    def finished(self, out: Tensor, sizes: np.ndarray) -> Tensor:
        return where(wrap(np.broadcast_to(sizes > 0, out.shape)), out, wrap(np.zeros(out.shape, out.dtype.np)))


class SegmentMin(SegmentMax):
    """The minima of the slices that carry the same number, 0 for a number that none carries; see `SegmentSum`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.SegmentMin()(ms.Tensor([2.0, 4.0, 3.0]), ms.Tensor([0, 0, 2])))
        [2. 0. 3.]
    """

    grouped = UnsortedSegmentMin
