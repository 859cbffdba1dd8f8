"""Counts and norms as primitives of their own: CountNonZero, ConfusionMatrix, HistogramFixedWidth, EuclideanNorm."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.dtype import from_numpy
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import integer, tensor
from dist_ms.ops.primitive import Primitive

__all__ = ["ConfusionMatrix", "CountNonZero", "EuclideanNorm", "HistogramFixedWidth"]


class CountNonZero(Primitive):
    """`count_nonzero` as a primitive: `CountNonZero(dims)(x)`.

    Args:
        dims: one axis or several; None for all.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.CountNonZero([1])(ms.Tensor([[1, 0], [2, 3]])))
        [1 2]
    """

    def __init__(self, dims: Any = None) -> None:
        self.dims = dims

    def __call__(self, x: Tensor) -> Tensor:
        dims = () if self.dims is None else tuple(self.dims) if isinstance(self.dims, list) else self.dims
        return ops.count_nonzero(tensor(x, "x", self.name), dims, dtype=from_numpy(np.dtype(np.int64)))


class EuclideanNorm(Primitive):
    """The root of the sum of squares along axes.

    Args:
        keep_dims: keep the axes with length 1.

    Call:
        x (Tensor): numbers.
        axes (Tensor): integers, the axes.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.EuclideanNorm()(ms.Tensor([[3.0, 4.0]]), ms.Tensor([1])))
        [5.]
    """

    def __init__(self, keep_dims: bool = False) -> None:
        if not isinstance(keep_dims, bool):
            raise TypeError(f"For '{self.name}', 'keep_dims' must be bool, but got {type(keep_dims).__name__}.")
        self.keep_dims = keep_dims

    def __call__(self, x: Tensor, axes: Tensor) -> Tensor:
        tensor(x, "x", self.name)
        at = tuple(int(a) for a in tensor(axes, "axes", self.name).array().ravel())
        square = ops.ReduceSum(self.keep_dims)(ops.square(x), at) if at else ops.square(x)
        return ops.sqrt(square).astype(x.dtype)


class ConfusionMatrix(Primitive):
    """How often each class, a row, was taken for each class, a column.

    Args:
        num_classes: the number of classes.
        dtype: a name of the result's dtype: "int32", "float32" and the like.

    Call:
        labels (Tensor): (N,) integers from 0, the true classes.
        predictions (Tensor): (N,) integers from 0.
        weights (Tensor): (N,) how much each counts, 1 by default.

    Raises:
        ValueError: if a class is not below `num_classes`, or the shapes differ.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ConfusionMatrix(2)(ms.Tensor([0, 1, 1]), ms.Tensor([0, 1, 0])))
        [[1 0]
         [1 1]]
    """

    differentiable = False

    def __init__(self, num_classes: int, dtype: str = "int32") -> None:
        self.num_classes = integer(num_classes, "num_classes", self.name)
        if not isinstance(dtype, str):
            raise TypeError(f"For '{self.name}', 'dtype' must be str, but got {type(dtype).__name__}.")
        self.dtype = np.dtype(dtype)

    def __call__(self, labels: Tensor, predictions: Tensor, weights: Tensor | None = None) -> Tensor:
        rows, columns = (
            tensor(labels, "labels", self.name).array(),
            tensor(predictions, "predictions", self.name).array(),
        )
        amounts = None if weights is None else tensor(weights, "weights", self.name).array()
        if rows.ndim != 1 or columns.shape != rows.shape or (amounts is not None and amounts.shape != rows.shape):
            raise ValueError(
                f"For '{self.name}', 'labels', 'predictions' and 'weights' must have one shape (N,), but got "
                f"{rows.shape}, {columns.shape} and {None if amounts is None else amounts.shape}."
            )
        n = self.num_classes
        for name, classes in (("labels", rows), ("predictions", columns)):
            if classes.size and not 0 <= classes.min() <= classes.max() < n:
                raise ValueError(
                    f"For '{self.name}', '{name}' must be from 0 and below 'num_classes' {n}, but got {classes}."
                )
        places = rows.astype(np.int64) * n + columns.astype(np.int64)
        return wrap(np.bincount(places, amounts, n * n).reshape(n, n).astype(self.dtype))


class HistogramFixedWidth(Primitive):
    """How many numbers fall in each of equal bins; those outside count in the first or last.

    Args:
        nbins: the number of bins, above 0.
        dtype: the result's dtype: "int32".

    Call:
        x (Tensor): int32, float16 or float32.
        range (Tensor): two numbers of that dtype, the limits, the first below the second.

    Raises:
        ValueError: if `nbins`, `dtype` or `range` is something else.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.HistogramFixedWidth(5)(ms.Tensor([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0]), ms.Tensor([0.0, 5.0])))
        [2 1 1 0 2]
    """

    differentiable = False

    def __init__(self, nbins: int, dtype: str = "int32") -> None:
        self.nbins = integer(nbins, "nbins", self.name)
        if self.nbins < 1:
            raise ValueError(f"For '{self.name}', 'nbins' must be above 0, but got {nbins}.")
        if dtype != "int32":
            raise ValueError(f"For '{self.name}', 'dtype' must be 'int32', but got {dtype!r}.")

    def __call__(self, x: Tensor, range: Tensor) -> Tensor:
        limits = tensor(range, "range", self.name).array().astype(np.float64)
        if limits.shape != (2,) or not limits[0] < limits[1]:
            raise ValueError(f"For '{self.name}', 'range' must be two rising numbers, but got {limits}.")
        low, high = limits
        place = np.floor((tensor(x, "x", self.name).array().astype(np.float64) - low) / (high - low) * self.nbins)
        place = np.clip(place, 0, self.nbins - 1).astype(np.int64)
        return wrap(np.bincount(place.ravel(), minlength=self.nbins).astype(np.int32))
