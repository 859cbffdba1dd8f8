"""ListDiff, InTopK, NthElement, iou ...: small questions about elements and boxes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.dtype import Number, int32, int64
from dist_ms.common.error_classes import plain, raises
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import (
    array,
    boolean,
    floating,
    integer,
    integral,
    not_array,
    not_of,
    one_axis,
    one_dtype,
    one_of,
    tensor,
)
from dist_ms.ops.primitive import OfTensors, Primitive, Undifferentiable, quiet

__all__ = [
    "CheckValid",
    "Coalesce",
    "IOU",
    "InTopK",
    "ListDiff",
    "LowerBound",
    "NthElement",
    "ScatterAddWithAxis",
    "SubAndFilter",
    "UpperBound",
    "check_valid",
    "intopk",
    "iou",
]


class ListDiff(Undifferentiable):
    """The elements of one vector that are not in another, and where they are.

    Args:
        out_idx: dtype of the places, int32 or int64.

    Call:
        x (Tensor): a vector.
        y (Tensor): a vector of the same dtype.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ListDiff()(ms.Tensor([3, 1, 2]), ms.Tensor([1]))[0])
        [3 2]
    """

    def __init__(self, out_idx: Number = int32) -> None:
        self.out_idx = one_of(out_idx, "out_idx", self.name, (int32, int64))

    def forward(self, x: np.ndarray, y: np.ndarray) -> tuple:
        if array(x, "x", self.name).ndim != 1 or array(y, "y", self.name).ndim != 1:
            raise ValueError(f"For '{self.name}', 'x' and 'y' must be vectors, but got {x.shape} and {y.shape}.")
        places = np.flatnonzero(~np.isin(x, y))
        return x[places], places.astype(self.out_idx.np)


@plain("k")
class InTopK(Undifferentiable):
    """`intopk` as a primitive: `InTopK(k)(x1, x2)`."""

    def __init__(self, k: int) -> None:
        self.k = integer(k, "k", self.name)

    def forward(self, x1: np.ndarray, x2: np.ndarray) -> np.ndarray:
        if floating(x1, "x1", self.name, False).ndim != 2 or integral(x2, "x2", self.name).shape != x1.shape[:1]:
            raise ValueError(
                f"For '{self.name}', 'x1' must be a matrix and 'x2' name a column for each row, "
                f"but got the shapes {x1.shape} and {x2.shape}."
            )
        inside = (x2 >= 0) & (x2 < x1.shape[1])
        own = np.take_along_axis(x1, np.where(inside, x2, 0)[:, None], 1)
        return inside & np.isfinite(own[:, 0]) & ((x1 > own).sum(1) < self.k)


def intopk(x1: Tensor, x2: Tensor, k: int) -> Tensor:
    """Tell whether the element a target names is among the k largest of its row.

    Args:
        x1: a Tensor of floats (rows, classes).
        x2: the targets, a Tensor of int32 or int64 (rows,).
        k: how many.

    Returns:
        Tensor of bools (rows,).

    Raises:
        TypeError: if an input has the wrong dtype.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.intopk(ms.Tensor([[1.0, 2.0], [4.0, 3.0]]), ms.Tensor([1, 1]), 1))
        [ True False]
    """
    tensor(x2, "x2", "intopk")
    not_of(x1, "d", "x1", "intopk")
    not_of(x2, "BHIL", "x2", "intopk")
    return InTopK(k)(x1, x2)


class NthElement(Undifferentiable):
    """The n-th smallest element of the last dimension, n from 0.

    Args:
        reverse: the n-th largest.

    Call:
        input (Tensor): real numbers.
        n (int): which, or a Tensor of one.

    Raises:
        ValueError: if the dimension has no n-th element.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.NthElement()(ms.Tensor([[3, 1, 2]]), 1))
        [2]
    """

    def __init__(self, reverse: bool = False) -> None:
        self.reverse = boolean(reverse, "reverse", self.name)

    def forward(self, input: np.ndarray, n: Any) -> np.ndarray:
        size, n = array(input, "input", self.name).shape[-1], integer(n, "n", self.name)
        if not 0 <= n < size:
            raise ValueError(f"For '{self.name}', 'n' must be in [0, {size}), but got {n}.")
        return np.sort(input, -1)[..., size - 1 - n if self.reverse else n]


class _Bound(Undifferentiable):
    """Where in a sorted row values belong; a subclass sets the side."""

    side = "left"

    def __init__(self, out_type: Number = int32) -> None:
        self.out_type = one_of(out_type, "out_type", self.name, (int32, int64))

    def forward(self, sorted_x: np.ndarray, values: np.ndarray) -> np.ndarray:
        if sorted_x.ndim != 2 or values.ndim != 2 or len(sorted_x) != len(values):
            raise ValueError(
                f"For '{self.name}', 'sorted_x' and 'values' must be matrices with equally many rows, "
                f"but got the shapes {sorted_x.shape} and {values.shape}."
            )
        rows = [np.searchsorted(row, value, self.side) for row, value in zip(sorted_x, values)]
        return np.array(rows, self.out_type.np).reshape(values.shape)


class LowerBound(_Bound):
    """How many elements of a sorted row are below each value.

    Args:
        out_type: int32 or int64.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.LowerBound()(ms.Tensor([[1, 2, 3]]), ms.Tensor([[2]])))
        [[1]]
    """


class UpperBound(_Bound):
    """How many elements of a sorted row are not above each value.

    Args:
        out_type: int32 or int64.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.UpperBound()(ms.Tensor([[1, 2, 3]]), ms.Tensor([[2]])))
        [[2]]
    """

    side = "right"


class SubAndFilter(Undifferentiable):
    """The elements of a vector minus `offset`, of these those in [0, max_num), and where they were.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.SubAndFilter()(ms.Tensor([1, 5, 9], ms.int32), 3, 5)[0])
        [0]
    """

    def forward(self, input_x: np.ndarray, max_num: Any, offset: Any) -> tuple:
        shifted = integral(input_x, "input_x", self.name) - input_x.dtype.type(integer(offset, "offset", self.name))
        places = np.flatnonzero((shifted >= 0) & (shifted < integer(max_num, "max_num", self.name)))
        return shifted[places], places.astype(np.int32)


class ScatterAddWithAxis(Primitive):
    """A tensor with updates added at places along one dimension.

    Args:
        axis: the dimension.

    Call:
        input_x (Tensor): numbers.
        indices (Tensor): places in the dimension, int32 or int64.
        updates (Tensor): of the shape of `indices` and the dtype of `input_x`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ScatterAddWithAxis(1)(ms.Tensor([[1, 2]]), ms.Tensor([[1]]), ms.Tensor([[8]])))
        [[ 1 10]]
    """

    def __init__(self, axis: int = 0) -> None:
        self.axis = integer(axis, "axis", self.name)

    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
        axis = one_axis(self.axis, "axis", self.name, len(tensor(input_x, "input_x", self.name).shape))
        return ops.tensor_scatter_elements(input_x, indices, updates, axis, "add")


class Coalesce(Primitive):
    """`coalesce` as a primitive: `Coalesce()(x_indices, x_values, x_shape)`."""

    def __call__(self, x_indices: Tensor, x_values: Tensor, x_shape: Tensor) -> tuple:
        return ops.coalesce(x_indices, x_values, x_shape)


class CheckValid(OfTensors, Undifferentiable):
    """Whether boxes are inside an image.

    Call:
        bboxes (Tensor): left, top, right, bottom of each, (number, 4).
        img_metas (Tensor): height, width and a factor of both, (3,).

    Raises:
        ValueError: if a shape is wrong.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.CheckValid()(ms.Tensor([[0.0, 0.0, 1.0, 1.0]]), ms.Tensor([2.0, 2.0, 1.0])))
        [ True]
    """

    def forward(self, bboxes: np.ndarray, img_metas: np.ndarray) -> np.ndarray:
        not_of(bboxes, "?bhildBHILFD", "bboxes", self.name)
        not_of(img_metas, "?bhildBHILFD", "img_metas", self.name)
        array(bboxes, "bboxes", self.name), array(img_metas, "img_metas", self.name)
        if bboxes.ndim != 2 or bboxes.shape[1] != 4 or img_metas.shape != (3,):
            raise ValueError(
                f"For '{self.name}', 'bboxes' must have the shape (number, 4) and 'img_metas' (3,), "
                f"but got {bboxes.shape} and {img_metas.shape}."
            )
        height, width = img_metas[:2] * img_metas[2]
        left, top, right, bottom = bboxes.T
        return (left >= 0) & (top >= 0) & (right <= width - 1) & (bottom <= height - 1)


@raises(mode=KeyError)
class IOU(OfTensors, Undifferentiable):
    """`iou` as a primitive: `IOU(mode)(anchor_boxes, gt_boxes)`."""

    def __init__(self, mode: str = "iou") -> None:
        self.mode = one_of(mode, "mode", self.name, ("iou", "iof"))

    @quiet
    def forward(self, anchor_boxes: np.ndarray, gt_boxes: np.ndarray) -> np.ndarray:
        a = floating(anchor_boxes, "anchor_boxes", self.name, False)
        g = floating(gt_boxes, "gt_boxes", self.name, False)
        if a.ndim != 2 or a.shape[1] != 4 or g.ndim != 2 or g.shape[1] != 4:
            raise ValueError(
                f"For '{self.name}', boxes must have the shape (number, 4), but got {a.shape} and {g.shape}."
            )
        first, second = a[None].astype(np.float64), g[:, None].astype(np.float64)

        def area(low: np.ndarray, high: np.ndarray) -> np.ndarray:
            return np.prod(np.maximum(high - low + 1, 0), -1)

        shared = area(np.maximum(first[..., :2], second[..., :2]), np.minimum(first[..., 2:], second[..., 2:]))
        whole = area(second[..., :2], second[..., 2:])
        if self.mode == "iou":
            whole = whole + area(first[..., :2], first[..., 2:]) - shared
        return np.divide(shared, whole, out=np.zeros_like(shared), where=whole != 0).astype(a.dtype)


check_valid = CheckValid()


def iou(anchor_boxes: Tensor, gt_boxes: Tensor, mode: str = "iou") -> Tensor:
    """Return the area boxes share, divided by the area both cover.

    Sides count both their ends, so that a box from 0 to 1 is 2 wide.

    Args:
        anchor_boxes: left, top, right, bottom of each, a Tensor of floats (n, 4).
        gt_boxes: a Tensor of the same dtype (m, 4).
        mode: "iou", or "iof" to divide by the area of the box of `gt_boxes`.

    Returns:
        Tensor (m, n).

    Raises:
        TypeError: if an input holds no floats.
        ValueError: if a shape or `mode` is wrong.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.iou(ms.Tensor([[0.0, 0.0, 1.0, 1.0]]), ms.Tensor([[0.0, 0.0, 1.0, 3.0]])))
        [[0.5]]
    """
    one_dtype("iou", anchor_boxes=anchor_boxes, gt_boxes=not_array(gt_boxes, "gt_boxes", "iou"))
    return IOU(mode)(anchor_boxes, gt_boxes)
